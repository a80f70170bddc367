"""Uses every operation of a mount once or more. Usage: use_everything.py MOUNT"""
import array
import ctypes
import fcntl
import os
import select
import shutil
import struct
import sys

place = os.path.join(sys.argv[1], "everything")
libc = ctypes.CDLL(None, use_errno=True)


def path(name):
    return os.path.join(place, name)


os.mkdir(place)  # and lookup, getattr
fd = os.open(path("file"), os.O_RDWR | os.O_CREAT, 0o644)
os.write(fd, b"tallyfs " * 40000)
os.pread(fd, 100000, 0)
os.pread(fd, 100000, 50000)
os.fsync(fd)
os.posix_fallocate(fd, 0, 1000)
os.lseek(fd, 0, os.SEEK_DATA)
os.copy_file_range(fd, fd, 1000, 0, 200000)
os.setxattr(fd, "user.note", b"value")
os.getxattr(fd, "user.note")
os.listxattr(fd)
os.removexattr(fd, "user.note")
os.fchmod(fd, 0o600)
os.fstatvfs(fd)
poll = select.poll()
poll.register(fd, select.POLLIN)
poll.poll(0)
fcntl.flock(fd, fcntl.LOCK_EX)
fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
fcntl.fcntl(fd, fcntl.F_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0))
try:
    fcntl.ioctl(fd, 0x80086601, array.array("l", [0]))  # FS_IOC_GETFLAGS
except OSError:
    pass
os.close(fd)
os.access(path("file"), os.R_OK)  # with default_permissions the kernel answers that itself
os.symlink("file", path("symbolic"))
os.readlink(path("symbolic"))
os.link(path("file"), path("hard"))
os.rename(path("hard"), path("renamed"))
os.mkfifo(path("pipe"))
with open(path("file"), "rb") as file:
    file.read()
os.listdir(place)
directory = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
os.fsync(directory)
os.close(directory)
try:
    os.close(os.open(place, os.O_RDWR | os.O_TMPFILE, 0o600))
except OSError:
    pass
libc.statx(-100, path("file").encode(), 0, 0xFFF, ctypes.create_string_buffer(256))  # with the time of birth
for i in range(200):
    open(path("many%d" % i), "x").close()
os.mkdir(path("sub"))
os.rmdir(path("sub"))
os.unlink(path("pipe"))
shutil.rmtree(place)
