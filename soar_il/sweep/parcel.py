"""A run directory on its way between machines: the files that are new, and which there are.

What is taken while a run is being written is still something to resume from: checkpoints are
looked at first, so that all they rely on comes with them, and put in place last.
"""

import os
from pathlib import Path
from typing import NamedTuple

from soar_il import files

Stamp = tuple[int, int]


class Parcel(NamedTuple):
    """Paths are relative, with slashes."""

    files: dict[str, bytes]
    all: tuple[str, ...]


def pack(folder: Path, sent: dict[str, Stamp]) -> Parcel:
    """What has changed since ``sent``, which is brought up to date."""
    names = sorted(
        path.relative_to(folder).as_posix()
        for place, _, inner in os.walk(folder)  # which passes over what is pruned meanwhile
        for path in (Path(place) / name for name in inner if name != "lock")
        if "tmp-" not in str(path.relative_to(folder))
    )
    fresh: dict[str, bytes] = {}
    there: list[str] = []
    for name in sorted(names, key=lambda name: not _is_checkpoint(name)):
        path = folder / name
        try:
            stat = path.stat()
            stamp = stat.st_size, stat.st_mtime_ns
            if sent.get(name) != stamp:
                fresh[name] = path.read_bytes()
        except FileNotFoundError:  # it has been pruned meanwhile
            continue
        sent[name] = stamp
        there.append(name)
    return Parcel(fresh, tuple(there))


def unpack(folder: Path, parcel: Parcel) -> None:
    """Make the directory what it was there; killed on the way, it can still be resumed from."""
    for name in sorted(parcel.files, key=_is_checkpoint):
        path = folder / name
        files.make_dir(path.parent)
        files.write_atomically(path, parcel.files[name])
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        if path.name != "lock" and path.relative_to(folder).as_posix() not in parcel.all:
            path.unlink()
    for path in (folder / "checkpoints").glob("*"):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def _is_checkpoint(name: str) -> bool:
    return name.startswith("checkpoints/")
