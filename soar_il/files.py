"""Files that are either whole or absent, whatever stops the process."""

import contextlib
import errno
import hashlib
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from soar_il.errors import StorageError

TEMPORARY = re.compile(r"tmp-(\d+)-.+")
ADVICE = {
    errno.ENOSPC: "free some space, then resume: what was saved before is intact",
    errno.EDQUOT: "free some of your quota, then resume: what was saved before is intact",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f), then resume",
    errno.EACCES: "make the folder writable, or choose another",
    errno.EROFS: "choose a folder on a disk that can be written",
}


@contextlib.contextmanager
def storing(path: Path) -> Iterator[None]:
    """The system's errors inside become a StorageError about ``path``."""
    try:
        yield
    except OSError as error:
        do = ADVICE.get(error.errno or 0, "mend the cause, then resume from what was saved before")
        what = f"cannot be written ({error.strerror or error})"
        raise StorageError(what, str(path), do) from error


def temporary(path: Path) -> Path:
    """A name beside ``path`` that ``sweep`` can tell from a live writer's."""
    return path.with_name(f"tmp-{os.getpid()}-{path.name}")


def write(path: Path, data: bytes) -> None:
    """A new file, on the disk when this returns; its name is only so after ``fsync_dir``."""
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_atomically(path: Path, data: bytes) -> None:
    """After any interruption ``path`` holds its old bytes or ``data``."""
    temp = temporary(path)
    with storing(path):
        try:
            temp.unlink(missing_ok=True)
            write(temp, data)
            os.replace(temp, path)
        except BaseException:
            remove(temp)
            raise
        fsync_dir(path.parent)


def fsync_dir(folder: Path) -> None:
    """Put the names in ``folder`` on the disk."""
    if sys.platform != "win32":  # where a directory cannot be opened
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system without the notion
                raise
        finally:
            os.close(descriptor)


def make_dir(folder: Path) -> None:
    """``folder``, with its name on the disk."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        fsync_dir(folder.parent)


def sha256(path: Path) -> str:
    """Hex digest of a file of any size."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove(path: Path) -> None:
    """A file or directory goes if it can: what stays is swept another time."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def sweep(folder: Path) -> None:
    """Remove what writers that are dead, or this process, left half-way in ``folder``."""
    for path in folder.iterdir() if folder.is_dir() else ():
        match = TEMPORARY.fullmatch(path.name)
        if match and (int(match[1]) == os.getpid() or not _alive(int(match[1]))):
            remove(path)


if sys.platform == "win32":
    import ctypes

    def _alive(pid: int) -> bool:
        # os.kill(pid, 0) would interrupt the process there.
        handle = ctypes.windll.kernel32.OpenProcess(0x1000, False, pid)
        ctypes.windll.kernel32.CloseHandle(handle)
        return bool(handle)
else:

    def _alive(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except PermissionError:
            return True
        return True
