"""
What a program asked of the kernel, by strace, beside what the kernel asked of tallyfs, by its counters: each difference has
its explanation in the table of rules below. For a mount with cache=none and timeouts of 0, on which nobody else works.

Usage: compare_strace.py MOUNT LOWER TRACE COMMAND…
"""
import json
import os
import re
import subprocess
import sys
import time

mount, lower, trace = sys.argv[1:4]
command = sys.argv[4:]
control = os.open(os.path.join(mount, ".tallyfs"), os.O_RDONLY)


def counters():
    text = os.getxattr(control, "user.tallyfs.stats.json")
    return json.loads(text)["operations"]


def field(operations, name, key="count"):
    return operations.get(name, {}).get(key, 0)


def settled():
    """RELEASE comes when the program has gone on."""
    while True:
        operations = counters()
        if field(operations, "release") == field(operations, "open") + field(operations, "create") and field(
            operations, "releasedir"
        ) == field(operations, "opendir"):
            return operations
        time.sleep(0.05)


os.setxattr(control, "user.tallyfs.cmd.reset", b"1")
subprocess.run(["strace", "-f", "-y", "-s", "4096", "-o", trace] + command, check=True, stdout=subprocess.PIPE)
operations = settled()


CALL = re.compile(r"^(\d+)\s+(\w+)\((.*)\)\s+= (-?\d+|\?|0x[0-9a-f]+)(.*)$")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
PATH_CALLS = {
    "newfstatat", "fstatat64", "lstat", "stat", "statx", "openat", "open", "access", "faccessat", "faccessat2", "readlink",
    "readlinkat", "unlink", "unlinkat", "mkdir", "mkdirat", "chdir", "rename", "renameat", "renameat2", "utimensat",
    "execve", "chmod", "fchmodat", "rmdir", "lgetxattr", "getxattr", "llistxattr", "listxattr",
}
STAT_CALLS = {"newfstatat", "fstatat64", "lstat", "stat", "statx", "fstat"}

seen = {}  # what the program did on the mount
steps = missing = 0  # names looked up, and those not found
bytes_read = mapped_pages = 0
directories = {}  # of each process


def note(what):
    seen[what] = seen.get(what, 0) + 1


def inside(path):
    return path == mount or path.startswith(mount + "/")


def walk(start, path):
    """The names that the kernel looks up on the mount for this path."""
    global steps
    full = path if path.startswith("/") else os.path.join(start, path)
    if not inside(os.path.normpath(full)):
        return False
    at = mount if path.startswith("/") else start
    names = full[len(mount):].split("/") if path.startswith("/") else path.split("/")
    for name in (name for name in names if name not in ("", ".")):
        steps += 1
        at = os.path.join(at, name)
        if not os.path.lexists(lower + at[len(mount):]):
            break
    return True


pending = {}
for line in open(trace, errors="replace"):
    line = line.rstrip("\n")
    unfinished = re.match(r"^(\d+)\s+(.*) <unfinished \.\.\.>$", line)
    if unfinished:
        pending[unfinished.group(1)] = unfinished.group(2)
        continue
    resumed = re.match(r"^(\d+)\s+<\.\.\. \w+ resumed>(.*)$", line)
    if resumed:
        line = "%s %s%s" % (resumed.group(1), pending.pop(resumed.group(1)), resumed.group(2))
    match = CALL.match(line)
    if not match:
        continue
    process, call, arguments, result, rest = match.groups()
    good = not result.startswith("-") and result != "?"
    here = directories.setdefault(process, os.getcwd())
    of = re.match(r"^(?:\d+|AT_FDCWD)<([^>]*)>", arguments)
    start = of.group(1) if of else here
    on_mount = of is not None and inside(start) and not arguments.startswith("AT_FDCWD")
    strings = STRING.findall(arguments)

    if call in PATH_CALLS and strings and strings[0] != "":
        on_mount = walk(start, strings[0])
        if call.startswith("rename") and len(strings) > 1:
            on_mount = walk(start, strings[1]) or on_mount
        if on_mount and not good and "ENOENT" in rest:
            missing += 1
    if call == "chdir" and good:
        directories[process] = os.path.normpath(os.path.join(here, strings[0]))
    mapped = re.search(r", \d+<([^>]*)>, ", arguments) if call == "mmap" and good else None
    if mapped and inside(mapped.group(1)):
        note("mmap")
        mapped_pages += (int(arguments.split(", ")[1]) + 4095) // 4096
    if not on_mount:
        continue
    if call in STAT_CALLS and good:
        note("stat")
    elif call in ("openat", "open") and good:
        path = re.search(r"<([^>]*)>", rest).group(1)
        if "O_CREAT" in arguments:
            note("create")
            missing += 1
        elif os.path.isdir(lower + path[len(mount):]):
            note("opendir")
        else:
            note("open")
    elif call in ("access", "faccessat", "faccessat2") and good:
        note("access")
    elif call == "chdir" and good:
        note("chdir")
    elif call in ("read", "pread64") and good:
        note("read")
        bytes_read += int(result)
    elif call == "getdents64" and good:
        note("getdents")
    elif call in ("readlink", "readlinkat") and good:
        note("readlink")
    elif call in ("unlink", "unlinkat") and good:
        note("unlink")
    elif call.startswith("rename") and good:
        note("rename")
    elif call == "write" and good:
        note("write")


def did(*what):
    return sum(seen.get(name, 0) for name in what)


changes = did("create", "rename", "unlink")
# operation, least and most that are explained, and the explanation
rules = [
    ("lookup", steps, steps, "one for each name of each path: with entry_timeout=0 the kernel believes no name twice"),
    ("open", did("open"), did("open"), "open(2) of what is no directory"),
    ("create", did("create"), did("create"), "open(2) with O_CREAT of what was not there"),
    ("release", did("open", "create"), did("open", "create"), "close(2), in strace once for each open file"),
    ("flush", did("open", "create") + 1, did("open", "create") + 1,
     "the same, and one for the control file, which the child of this test closes"),
    ("opendir", did("opendir"), did("opendir"), "open(2) of a directory: another operation in FUSE"),
    ("releasedir", did("opendir"), did("opendir"), "close(2) of it"),
    ("readdir+readdirplus", did("getdents"), did("getdents"), "getdents(2): the kernel asks for attributes as well at first"),
    ("read", did("read"), did("read") + mapped_pages,
     "read(2), and page faults of mapped files, which strace does not show"),
    ("read.bytes", bytes_read, bytes_read + mapped_pages * 4096, "of both"),
    ("write", did("write"), did("write"), "write(2)"),
    ("readlink", did("readlink"), did("readlink"), "readlink(2); on no path is a link that is followed"),
    ("rename", did("rename"), did("rename"), "rename(2)"),
    ("unlink", did("unlink"), did("unlink"), "unlink(2)"),
    # Each stat, although the lookup before it brought the attributes: with attr_timeout=0 they are old by then. Each
    # directory on a path, and each file that is opened or asked for access, for its permissions; where a name is made or
    # goes, the directory again. And two for the questions of this test.
    ("getattr", did("stat", "open", "opendir", "access", "chdir") + steps,
     did("stat", "open", "opendir", "access", "chdir") + steps + 4 * changes + 2,
     "stat(2), and permissions: the kernel believes no attribute twice"),
    ("lookup.errors", missing, missing, "ENOENT, and the lookup before a file is made"),
]


def counted(name):
    operation, _, key = name.partition(".")
    return sum(field(operations, one, key or "count") for one in operation.split("+"))


failed = False
print("%-20s %8s %17s" % ("operation", "counted", "by strace"))
for name, least, most, why in rules:
    wrong = not least <= counted(name) <= most
    failed = failed or wrong
    by_strace = "%d" % least if least == most else "%d to %d" % (least, most)
    print("%-20s %8d %17s  %s%s" % (name, counted(name), by_strace, "WRONG: " if wrong else "", why))
# The reset, and the questions for the counters; FORGET is the kernel's own.
known = {one for rule in rules for one in rule[0].partition(".")[0].split("+")} | {"setxattr", "getxattr", "forget", "forget_multi"}
for name in set(operations) - known:
    print("%s: %d without an explanation" % (name, field(operations, name)))
    failed = True
sys.exit(failed)
