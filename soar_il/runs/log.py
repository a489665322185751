"""``metrics.jsonl``: one record a line, each with its CRC."""

import io
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np

from soar_il import files
from soar_il.errors import StorageError
from soar_il.files import Fields
from soar_il.seal import seal, unseal

Warn = Callable[[str], None]


class Log:
    """Appends records; a line that an earlier process left torn goes first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        kept = b"".join(line for line, _ in _lines(path))
        with files.storing(path):
            files.make_dir(path.parent)
            # Unbuffered: a line is the system's when append returns, so a kill cannot lose it.
            self._file = open(path, "ab", buffering=0)  # noqa: SIM115
            self._size = len(kept)
            try:
                self._file.truncate(self._size)
                files.fsync_dir(path.parent)
            except BaseException:
                self._file.close()
                raise

    def append(self, record: Fields) -> None:
        """One line; NaN and infinities become null. ``record["k"]`` is its iteration."""
        record = _jsonable(record)
        if not isinstance(record["k"], int):
            raise TypeError(f"k is {record['k']!r}, not an integer")
        line = seal(record, "crc")
        with files.storing(self.path):
            files.append(self._file, line, self._size)
            self._size += len(line)

    def sync(self) -> None:
        """Put the lines on the disk: before a checkpoint, so that none it counts on is lost."""
        with files.storing(self.path):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read(path: Path) -> list[Fields]:
    """The records, less a last one that is torn or damaged; none if there is no file."""
    return [record for _, record in _lines(path)]


def cut(path: Path, k: int, warn: Warn | None = None) -> None:
    """Keep the records up to iteration ``k``, to the byte; before a ``Log`` opens the file.

    ``warn``: what stands in the log can be made again, so a damaged line ends it, aloud, and is no
    error.
    """
    if path.exists():
        kept = (line for line, record in _lines(path, warn) if record["k"] <= k)
        files.write_atomically(path, b"".join(kept))


def require(path: Path, k: int) -> None:
    """The log has a line for each iteration up to ``k``, or that is a StorageError."""
    gone = set(range(1, k + 1)) - {record["k"] for record in read(path)}
    if gone:
        what = f"lacks {len(gone)} of {k} iterations, the first of them {min(gone)}"
        raise StorageError(what, str(path), files.DAMAGED)


def _lines(path: Path, warn: Warn | None = None) -> list[tuple[bytes, Fields]]:
    if not path.exists():
        return []
    lines = io.BytesIO(files.read(path)).readlines()
    found = []
    for number, line in enumerate(lines, 1):
        try:
            record = unseal(line, "crc")
            if type(record.get("k")) is not int:
                raise ValueError("it does not say which iteration it is of")
            found.append((line, record))
        except ValueError as error:
            where = f"{path}, line {number}"
            if warn is not None:
                warn(f"{where}: the line is damaged ({error}); what it said is made again")
                break
            if number < len(lines):
                do = "put the file back from a copy, or remove the line if you can spare it"
                raise StorageError(f"the line is damaged: {error}", where, do) from error
    return found


def _jsonable(value: Any) -> Any:
    """``value`` with numpy's scalars and arrays as Python's, and null for what JSON cannot say."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
