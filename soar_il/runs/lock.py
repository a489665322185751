"""One process at a time in a run's folder."""

import contextlib
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from soar_il import files
from soar_il.errors import StorageError

if sys.platform == "win32":
    import msvcrt

    def _acquire(descriptor: int) -> bool:
        # A byte past the text: on Windows a locked byte cannot be read by others.
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
else:
    import fcntl

    def _acquire(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """The lock of ``folder``, until the block ends or the process dies; StorageError if taken.

    The file stays: to remove it would let two processes lock two files of one name.
    """
    path = folder / "lock"
    with files.storing(path):
        files.make_dir(folder)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        with files.storing(path):
            if not _acquire(descriptor):
                raise _busy(path)
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            os.write(descriptor, f"{os.getpid()} {now}\n".encode())
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _busy(path: Path) -> StorageError:
    # Empty for the moment between the holder's lock and its note.
    pid, _, since = path.read_text().strip().partition(" ")
    holder = f"process {pid} since {since}" if pid else "another process"
    do = "wait for it or stop it" + (f" (kill {pid})" if pid else "") + ", or use another folder"
    if pid == str(os.getpid()):
        holder, do = "this process", "close the Imitator that holds it, or use another folder"
    return StorageError(f"the run is in use by {holder}", str(path.parent), do)
