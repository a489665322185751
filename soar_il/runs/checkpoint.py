"""Checkpoints: the two newest are kept, each whole or absent, and none is believed unverified.

A generation is a directory ``<k>`` with ``state.safetensors`` and ``manifest.json``; it is written
under another name and renamed when it is on the disk. ``<k>.old`` is generation k while a new one
takes its place, because a directory cannot be replaced in one step.
"""

import contextlib
import hashlib
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from soar_il import files
from soar_il.arrays import pack, unpack
from soar_il.errors import StorageError
from soar_il.files import Fields
from soar_il.seal import seal, unseal

FORMAT = 1  # later formats keep the manifest's seal, so that this code can tell them from damage
KEPT = 2
STATE, MANIFEST = "state.safetensors", "manifest.json"
GENERATION = re.compile(r"(\d{9,})(\.old)?")


class Checkpoint(NamedTuple):
    """The state after iteration ``k``; ``meta`` is as JSON gives it back (tuples are lists)."""

    k: int
    arrays: dict[str, np.ndarray]
    meta: Fields


class _Damage(Exception):
    """A file of a generation, and why it cannot be believed."""


def save(folder: Path, k: int, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> Path:
    """Generation ``k`` on the disk, then only it and the one before it; StorageError if it fails.

    Whatever happens, ``newest`` finds this generation or the one before. Generations after ``k``
    go too: they are of a future that was abandoned.
    """
    if k < 0:
        raise ValueError(f"k = {k} is negative")
    state = pack(arrays)
    manifest = seal(
        {
            "format": FORMAT,
            "k": k,
            "meta": dict(meta),
            "files": {STATE: {"size": len(state), "sha256": hashlib.sha256(state).hexdigest()}},
            "arrays": _described(arrays),
        },
        "sha256",
    )
    final = folder / f"{k:09d}"
    temp, aside = files.temporary(final), folder / f"{final.name}.old"
    with files.storing(final):
        files.make_dir(folder)
        try:
            files.remove(temp)
            temp.mkdir()
            files.write(temp / STATE, state)
            files.write(temp / MANIFEST, manifest)
            files.fsync_dir(temp)
            if final.exists():
                _discard(aside)
                os.rename(final, aside)
            os.rename(temp, final)
        except BaseException:
            files.remove(temp)
            raise
        files.fsync_dir(folder)
    _thin(folder, k)
    return final


def load(path: Path) -> Checkpoint:
    """The generation in ``path``, exactly as it was saved, or a StorageError."""
    try:
        return _verified(path)
    except _Damage as damage:
        file, what = damage.args
        raise StorageError(what, str(file), "use another generation, or a copy") from damage


def newest(
    folder: Path, warn: Callable[[str], None], before: float = math.inf
) -> Checkpoint | None:
    """The newest generation (``before`` this one) that verifies; None if there is none at all.

    ``warn`` is told of each newer one that is damaged; if all are, that is a StorageError.
    """
    problems = []
    for path in generations(folder):
        if _number(path) >= before:
            continue
        try:
            found = _verified(path)
        except _Damage as damage:
            problems.append("{}: {}".format(*damage.args))
            continue
        for problem in problems:
            warn(f"{problem}; generation {found.k} ({path}) is used instead")
        return found
    if problems:
        do = "put a generation back from a copy, or start the run again"
        what = "no checkpoint can be used:\n  " + "\n  ".join(problems)
        raise StorageError(what, str(folder), do)
    return None


def prune(folder: Path, k: int) -> None:
    """Remove the generations after ``k``, which a run that resumes from ``k`` will not reach."""
    for path in generations(folder):
        if _number(path) > k:
            _discard(path)


def generations(folder: Path) -> list[Path]:
    """Newest first, damaged or not."""
    found = [p for p in folder.iterdir() if GENERATION.fullmatch(p.name)] if folder.is_dir() else []
    return sorted(found, key=lambda p: (_number(p), p.suffix == ""), reverse=True)


def _thin(folder: Path, k: int) -> None:
    kept: list[int] = []
    for path in generations(folder):
        number = _number(path)
        if number > k or number in kept or len(kept) == KEPT:
            _discard(path)
        else:
            kept.append(number)


def _discard(path: Path) -> None:
    """Under another name first: half a generation must not look like a damaged one."""
    trash = files.temporary(path.with_name(f"gone-{path.name}"))
    files.remove(trash)
    with contextlib.suppress(OSError):  # the next save tries again
        os.rename(path, trash)
        files.remove(trash)


def _number(path: Path) -> int:
    return int(path.name.removesuffix(".old"))


def _described(arrays: Mapping[str, np.ndarray]) -> Fields:
    return {
        name: {"dtype": np.asarray(array).dtype.name, "shape": list(np.shape(array))}
        for name, array in sorted(arrays.items())
    }


def _verified(path: Path) -> Checkpoint:
    manifest = _manifest(path / MANIFEST)
    try:
        k, meta, described = int(manifest["k"]), dict(manifest["meta"]), manifest["arrays"]
        size, digest = manifest["files"][STATE]["size"], manifest["files"][STATE]["sha256"]
    except (KeyError, TypeError, ValueError) as error:
        raise _Damage(path / MANIFEST, f"the manifest lacks {error}") from error
    if GENERATION.fullmatch(path.name) and _number(path) != k:
        raise _Damage(path / MANIFEST, f"the manifest is of generation {k}")
    file = path / STATE
    with _reading(file):
        length = file.stat().st_size
        if length != size:
            raise _Damage(file, f"the file has {length} bytes instead of {size}")
        data = files.read(file, size)
    if hashlib.sha256(data).hexdigest() != digest:
        raise _Damage(file, "the file is damaged: its SHA-256 is not the manifest's")
    try:
        arrays = unpack(data)
    except ValueError as error:
        raise _Damage(file, str(error)) from error
    if _described(arrays) != described:
        raise _Damage(file, "dtypes or shapes are not the manifest's")
    return Checkpoint(k, arrays, meta)


def _manifest(path: Path) -> Fields:
    with _reading(path):
        text = files.read(path)
    try:
        manifest = unseal(text, "sha256")
    except ValueError as error:
        raise _Damage(path, f"the manifest is damaged: {error}") from error
    version = manifest.get("format")
    if isinstance(version, int) and version > FORMAT:
        # Not damage: to fall back would throw away what a newer version did.
        what = f"format {version} is newer than this version of soar-il knows ({FORMAT})"
        raise StorageError(what, str(path), "update soar-il")
    if version != FORMAT:
        raise _Damage(path, f"format {version!r} is unknown")
    return manifest


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _Damage(path, f"the file cannot be read ({error.strerror or error})") from error
    except StorageError as error:
        raise _Damage(path, f"the file {error.what}") from error
