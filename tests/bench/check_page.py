#!/usr/bin/env python3
"""check_page.py PAGE.html TEXT…: whether the page is well formed, needs nothing else, can be read without seeing the
pictures, and shows each TEXT as it is, however much it looks like mark-up."""
import sys
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.references, self.text, self.problems = [], set(), [], [], []
        self.tables, self.pictures, self.headings = 0, 0, []
        self.has = {}

    def problem(self, what):
        self.problems.append(f"line {self.getpos()[0]}: {what}")

    def handle_starttag(self, tag, attributes, closed=False):
        attributes = dict(attributes)
        if tag in ("script", "iframe", "object", "embed", "link", "img", "form", "base"):
            self.problem(f"<{tag}>")
        for name, value in attributes.items():
            if name.startswith("on") or name in ("src", "srcset", "style", "xlink:href"):
                self.problem(f"{name}=")
            if name == "href" and not value.startswith("#"):
                self.problem(f"href={value}")
            if name == "id":
                if value in self.ids:
                    self.problem(f"id {value} twice")
                self.ids.add(value)
        self.references += [a[1:] for a in [attributes.get("href")] if a]
        for name in ("aria-labelledby", "aria-describedby"):
            self.references += attributes.get(name, "").split()
        if tag == "svg" and attributes.get("aria-hidden") != "true":
            self.pictures += 1
            self.has = {}
            if attributes.get("role") != "img" or "aria-labelledby" not in attributes:
                self.problem("a picture without role and label")
        if tag == "table":
            self.tables += 1
            self.has = {}
        if tag == "th" and attributes.get("scope") not in ("row", "col"):
            self.problem("th without scope")
        if tag in ("h1", "h2", "h3"):
            self.headings.append(int(tag[1]))
        self.has[tag] = True
        if tag not in VOID and not closed:
            self.open.append((tag, attributes))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes, closed=True)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.problem(f"</{tag}> closes {self.open[-1:]}")
            return
        _, attributes = self.open.pop()
        if tag == "table" and not self.has.get("caption"):
            self.problem("a table without caption")
        if tag == "svg" and attributes.get("aria-hidden") != "true" and not (self.has.get("title") and self.has.get("desc")):
            self.problem("a picture without title or description")

    def handle_data(self, data):
        if "style" in [tag for tag, _ in self.open]:
            if "url(" in data or "@import" in data:
                self.problem("the style sheet loads something")
        else:
            self.text.append(data)


page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
page.close()
text = "".join(page.text)
page.problems += [f"<{tag}> is not closed" for tag, _ in page.open]
page.problems += [f"#{name} is not there" for name in page.references if name not in page.ids]
page.problems += [f"{wanted!r} is not there" for wanted in sys.argv[2:] if wanted not in text]
if page.headings[:1] != [1] or any(b > a + 1 for a, b in zip(page.headings, page.headings[1:])):
    page.problems.append(f"levels of headings: {page.headings}")
if page.tables < 5 or page.pictures < 6:
    page.problems.append(f"{page.tables} tables, {page.pictures} pictures")
print("\n".join(page.problems))
sys.exit(bool(page.problems))
