/* The page's style sheet: one for light and dark, for phones and desktops. */
#ifndef TALLY_BENCH_STYLE_H
#define TALLY_BENCH_STYLE_H

extern const char html_style[];

#endif
