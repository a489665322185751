"""Files that are either whole or absent, whatever stops the process."""

import contextlib
import errno
import hashlib
import itertools
import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from time import sleep as pause
from typing import Any, BinaryIO, TypeVar

from soar_il.errors import StorageError

T = TypeVar("T")
Fields = dict[str, Any]  # names and values, as JSON and TOML have them
TEMPORARY = re.compile(r"tmp-(\d+)-.+")
ADVICE = {
    errno.ENOSPC: "free some space, then resume: what was saved before is intact",
    errno.EDQUOT: "free some of your quota, then resume: what was saved before is intact",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f), then resume",
    errno.EACCES: "make the folder writable, or choose another",
    errno.EROFS: "choose a folder on a disk that can be written",
}
PASSING = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES}  # a person can mend them
WAITS = (1, 2, 5, 10, 30)  # seconds, then the last again and again
SAY_EVERY = 20
DAMAGED = "the file is damaged: put it back from a copy"


MOST = 2**31  # bytes of a file that is read at once
MOST_JSON = 2**24


@contextlib.contextmanager
def regular(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """An open file and its size; a pipe, a device or a folder is refused without waiting on it."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StorageError(f"cannot be read ({reason})", str(path), "check the path") from None
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise StorageError("is not a regular file", str(path), "give a file on a disk")
    with os.fdopen(handle, "rb") as file:
        yield file, about.st_size


def read(path: Path, most: int = MOST) -> bytes:
    """All of a regular file that has no more than ``most`` bytes."""
    with regular(path) as (file, size):
        if size > most:
            what = f"has {size:,} bytes, and {most:,} are the most that are read"
            raise StorageError(what, str(path), "is it the right file?")
        return file.read(size)


def json_object(data: bytes, where: str) -> Fields:
    """The JSON object in ``data``; whatever else it is gives one StorageError."""
    try:
        value = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else error
        raise StorageError(f"is not valid JSON ({reason})", where, DAMAGED) from None
    if not isinstance(value, dict):
        raise StorageError(f"is a JSON {type(value).__name__}, not an object", where, DAMAGED)
    return value


def read_json(path: Path) -> Fields:
    """The JSON object in a file."""
    return json_object(read(path, MOST_JSON), str(path))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


@contextlib.contextmanager
def storing(path: Path) -> Iterator[None]:
    """The system's errors inside become a StorageError about ``path``."""
    try:
        yield
    except OSError as error:
        do = ADVICE.get(error.errno or 0, "mend the cause, then resume from what was saved before")
        what = f"cannot be written ({error.strerror or error})"
        raise StorageError(what, str(path), do) from error


def patiently(write: Callable[[], T], say: Callable[[str], None]) -> T:
    """What ``write`` gives; while the disk is full or read-only it waits, says so, and tries again.

    ``write`` has to leave things as they were when it fails. Ctrl-C ends the wait.
    """
    for tried in itertools.count():
        try:
            done = write()
        except StorageError as error:
            cause = error.__cause__
            if not isinstance(cause, OSError) or cause.errno not in PASSING:
                raise
            wait = WAITS[min(tried, len(WAITS) - 1)]
            if tried % SAY_EVERY == 0:
                with contextlib.suppress(OSError):  # the output may be on that disk too
                    say(
                        f"paused, nothing is lost: {error}\n  it goes on by itself when it can; "
                        "Ctrl-C stops it"
                    )
            pause(wait)
        else:
            if tried:
                say("it can be written again: going on")
            return done
    raise AssertionError("counting has no end")


def append(file: FileIO, data: bytes, at: int) -> None:
    """Write at the end, which is at byte ``at``: all of ``data``, or the file is as it was."""
    if os.fstat(file.fileno()).st_size != at:
        file.truncate(at)  # what an earlier attempt could not take back
    try:
        written = 0
        while written < len(data):
            written += file.write(data[written:])
    except BaseException:
        with contextlib.suppress(OSError):
            file.truncate(at)
        raise


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
