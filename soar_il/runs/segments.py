"""Trajectories: one immutable file per iteration, so that a checkpoint need not repeat them."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from soar_il import files
from soar_il.arrays import pack, unpack
from soar_il.errors import StorageError
from soar_il.types import Tree

NAME = re.compile(r"(\d{9,})\.safetensors")


class Segment(NamedTuple):
    """What a checkpoint keeps of a segment; JSON gives it back as a pair: ``Segment(*pair)``."""

    name: str
    sha256: str


def write(folder: Path, k: int, arrays: Mapping[str, np.ndarray]) -> Segment:
    """Iteration ``k``'s segment, on the disk when this returns."""
    if k < 0:
        raise ValueError(f"k = {k} is negative")
    data = pack(arrays)
    path = folder / f"{k:09d}.safetensors"
    with files.storing(path):
        files.make_dir(folder)
    files.write_atomically(path, data)
    return Segment(path.name, hashlib.sha256(data).hexdigest())


def read(folder: Path, segment: Segment) -> dict[str, np.ndarray]:
    """The arrays of a segment, which are those that were written or a StorageError."""
    path = folder / segment.name
    do = "put the file back from a copy, or start the run again: a run cannot go on without it"
    try:
        data = files.read(path)
    except StorageError as error:
        raise StorageError(f"the segment {error.what}", str(path), do) from error
    if hashlib.sha256(data).hexdigest() != segment.sha256:
        raise StorageError(
            "the segment is damaged: its SHA-256 is not the one noted", str(path), do
        )
    try:
        return unpack(data)
    except ValueError as error:
        raise StorageError(str(error), str(path), do) from error


def noted(pairs: Any, where: str) -> list[Segment]:
    """What a checkpoint says of segments, if it can be that."""
    found, listed = [], pairs if isinstance(pairs, list) else [pairs]
    for pair in listed:
        fine = isinstance(pair, list) and len(pair) == 2 and all(isinstance(x, str) for x in pair)
        if not fine or not NAME.fullmatch(pair[0]):
            raise StorageError(f"names {pair!r} as a segment", where, files.DAMAGED)
        found.append(Segment(*pair))
    return found


def prune(folder: Path, k: int) -> None:
    """Remove what a run killed before its next checkpoint wrote after iteration ``k``."""
    with files.storing(folder):
        for path in folder.iterdir() if folder.is_dir() else ():
            match = NAME.fullmatch(path.name)
            if match and int(match[1]) > k:
                path.unlink()


def packed(taus: list[Tree]) -> dict[str, np.ndarray]:
    """Trajectories as one array for each field, end to end.

    A row is a step, except in the observations, of which there is one more.
    """
    columns = {name: [getattr(tau, name) for tau in taus] for name in taus[0]._fields}
    lengths = np.array([len(actions) for actions in columns["actions"]], np.int32)
    ends = np.array(columns.pop("terminated"))
    packed = {name: np.concatenate(column) for name, column in columns.items()}
    return {**packed, "lengths": lengths, "terminated": ends}


def unpacked(arrays: dict[str, np.ndarray], trajectory: type[Tree]) -> list[Tree]:
    """The trajectories again, as tuples of this type."""
    lengths, ends = arrays["lengths"], arrays["terminated"]
    steps = [name for name in trajectory._fields if name not in ("observations", "terminated")]
    cuts = {name: np.split(arrays[name], np.cumsum(lengths)[:-1]) for name in steps}
    cuts["observations"] = np.split(arrays["observations"], np.cumsum(lengths + 1)[:-1])
    return [
        trajectory(terminated=bool(end), **{name: cut[n] for name, cut in cuts.items()})
        for n, end in enumerate(ends)
    ]
