"""The folder ``name.demos``: data.safetensors and manifest.json, written whole or not at all."""

import hashlib
import struct
import tempfile
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy

from soar_il import files, seal
from soar_il.demos import safe
from soar_il.demos.format import Demos
from soar_il.demos.validate import is_reward, naming
from soar_il.errors import DemoError, StorageError
from soar_il.files import Fields

FORMAT, VERSION = "soar-il demos", 1
DATA, MANIFEST = "data.safetensors", "manifest.json"
NAMES = {"format", "version", "content_sha256", "data", "trajectories", "transitions", "shapes"}
NAMES |= {"about", "sha256"}
LARGEST_MANIFEST = 4 * safe.MIB
LARGEST_HEADER = 64 * 1024  # four tensors need some hundred bytes
TYPES = {"observations": "F32", "actions": "F32", "lengths": "I64", "terminated": "BOOL"}


def write(demos: Demos, path: Path, overwrite: bool = False) -> None:
    """Write the folder beside its place, sync it, and rename it there."""
    data = safetensors.numpy.save(_tensors(demos))
    manifest = seal.seal(_manifest(demos, data), "sha256", indent=2)
    with naming(path):
        if len(manifest) > LARGEST_MANIFEST:
            raise DemoError(f"takes {len(manifest):,} bytes", "about", "keep provenance short")
        _refuse_to_replace(path, overwrite)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as scratch:
                new = Path(scratch) / "new"
                new.mkdir()
                for name, content in ((DATA, data), (MANIFEST, manifest)):
                    files.write(new / name, content)
                files.fsync_dir(new)
                _swap(new, path, Path(scratch) / "old")
                files.fsync_dir(path.parent)
        except OSError as error:
            raise DemoError(
                f"cannot be written ({error.strerror})", do="choose another place"
            ) from None


def _swap(new: Path, path: Path, old: Path) -> None:
    replaces = path.exists()
    if replaces:
        path.rename(old)
    try:
        new.rename(path)
    except OSError:
        if replaces:
            old.rename(path)
        raise


def _refuse_to_replace(path: Path, overwrite: bool) -> None:
    if not path.exists():
        return
    if not overwrite:
        raise DemoError(
            "exists", do="choose another name, or give --overwrite (overwrite=True in Python)"
        )
    if not (path / MANIFEST).is_file():
        raise DemoError("exists and is not a folder of demonstrations", do="choose another name")


def _tensors(demos: Demos) -> dict[str, np.ndarray]:
    tensors: dict[str, np.ndarray] = {
        "observations": np.concatenate(demos.observations),
        "lengths": demos.lengths,
        "terminated": demos.terminated,
    }
    if demos.actions is not None:
        tensors["actions"] = np.concatenate(demos.actions)
    return tensors


def _shapes(demos: Demos) -> dict[str, list[int]]:
    return {name: list(tensor.shape) for name, tensor in _tensors(demos).items()}


def _manifest(demos: Demos, data: bytes) -> Fields:
    return {
        "format": FORMAT,
        "version": VERSION,
        "content_sha256": demos.hash,
        "data": {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()},
        "trajectories": len(demos),
        "transitions": demos.transitions,
        "shapes": _shapes(demos),
        "about": demos.about,
    }


def read(path: Path) -> Demos:
    """Read a folder: sizes are verified before the data is read, hashes after."""
    with naming(path):
        said = manifest(path)
        tensors = _read_data(path / DATA, said["data"])
        with naming(DATA):
            demos = Demos.from_arrays(
                tensors["observations"],
                tensors.get("actions"),
                tensors["lengths"],
                tensors["terminated"],
                said["about"],
            )
        for field, found in (
            ("trajectories", len(demos)),
            ("transitions", demos.transitions),
            ("shapes", _shapes(demos)),
            ("content_sha256", demos.hash),
        ):
            if said.get(field) != found:
                raise DemoError(
                    f"says {said.get(field)}, the data says {found}",
                    f"{MANIFEST}, {field}",
                    safe.AGAIN,
                )
    return demos


def manifest(path: Path) -> Fields:
    """What a folder says of itself, its data unread."""
    with naming(MANIFEST):
        with safe.regular(path / MANIFEST) as (file, size):
            if size > LARGEST_MANIFEST:
                raise DemoError(f"has {size:,} bytes", do=safe.AGAIN)
            said = _unsealed(file.read(size))
        if said.get("format") != FORMAT:
            raise DemoError(f"is not of the format {FORMAT!r}", do="give a .demos folder")
        version = said.get("version")
        if type(version) is not int or version < 1:
            raise DemoError(f"has version {version!r}", do=safe.AGAIN)
        if version > VERSION:
            raise DemoError(
                f"has version {version}, this soar-il reads up to {VERSION}", do="update soar-il"
            )
        if not isinstance(said.get("data"), dict) or not isinstance(said.get("about"), dict):
            raise DemoError("lacks 'data' or 'about'", do=safe.AGAIN)
    return said


def _unsealed(data: bytes) -> Fields:
    """Earlier manifests have no seal; of a damaged one only an unknown name may be left."""
    try:
        said = seal.opened(data, "")
    except StorageError as error:
        raise DemoError(error.what, do=safe.AGAIN) from None
    if said.get("format") == FORMAT and said.keys() - NAMES:
        raise DemoError(f"says {', '.join(sorted(said.keys() - NAMES))}", do=safe.AGAIN)
    return said


def _read_data(path: Path, said: Fields) -> dict[str, np.ndarray]:
    with naming(DATA):
        with safe.regular(path) as (file, size):
            if size != said.get("bytes"):
                raise DemoError(
                    f"has {size:,} bytes, the manifest says {said.get('bytes')}", do=safe.AGAIN
                )
            _check_header(file.read(8 + min(size, LARGEST_HEADER)))
            file.seek(0)
            data = file.read(size)
        if hashlib.sha256(data).hexdigest() != said.get("sha256"):
            raise DemoError("is not what was written: its SHA-256 differs", do=safe.AGAIN)
        try:
            return safetensors.numpy.load(data)
        except (safetensors.SafetensorError, ValueError, TypeError, OverflowError) as error:
            raise DemoError(f"is not valid safetensors ({error})", do=safe.AGAIN) from None


def _check_header(start: bytes) -> None:
    """Names and types are the four known ones, before the library sees the file."""
    length = struct.unpack("<Q", start[:8])[0] if len(start) >= 8 else 0
    if not 2 <= length <= min(LARGEST_HEADER, len(start) - 8):
        raise DemoError(f"announces a header of {length:,} bytes", do=safe.AGAIN)
    header = safe.json_object(start[8 : 8 + length])
    header.pop("__metadata__", None)
    for name, entry in header.items():
        if is_reward(name):
            raise DemoError(
                f"holds {name!r}", do="demonstrations carry no rewards: save them without"
            )
        if name not in TYPES:
            raise DemoError(f"holds an unknown array {name!r}", do=safe.AGAIN)
        if not isinstance(entry, dict) or entry.get("dtype") != TYPES[name]:
            raise DemoError(f"{name} is not of type {TYPES[name]}", do=safe.AGAIN)
    missing = TYPES.keys() - header.keys() - {"actions"}
    if missing:
        raise DemoError(f"lacks {', '.join(sorted(missing))}", do=safe.AGAIN)
