"""Demonstrations in .npz files, with the names of named.py and ``about_json``: provenance."""

import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from soar_il import files
from soar_il.demos import named, safe
from soar_il.demos.format import Demos
from soar_il.demos.named import Keys
from soar_il.demos.validate import naming
from soar_il.errors import DemoError
from soar_il.files import Fields

ABOUT = "about_json"


def read(path: Path | str, shift: int = 0, keys: Keys | None = None) -> Demos:
    """Demonstrations from an .npz; ``shift=1`` for s_1 ... s_T beside a_0 ... a_{T-1}."""
    with naming(path):
        with safe.archive(Path(path)) as opened:
            names = [member.removesuffix(".npy") for member in opened.namelist()]
            own = ABOUT in names
            choice = named.choose([name for name in names if name != ABOUT], keys)
            arrays = {
                field: named.side_by_side(
                    field, [_member(opened, part) for part in named.parts(name, names)]
                )
                for field, name in choice.fields.items()
            }
            about = _about(_member(opened, ABOUT)) if own else {"source": Path(path).name}
        demos = named.demos([arrays], about, shift)
    named.say_what_is_left_out([choice], path)
    return demos if own else named.suspect(demos, path)


def _member(opened: zipfile.ZipFile, name: str) -> np.ndarray:
    with naming(name):
        return safe.member(opened, name)


def _about(data: np.ndarray) -> Fields:
    if data.dtype != np.uint8:
        raise DemoError(f"is {data.dtype}", ABOUT, "give UTF-8 bytes as uint8")
    with naming(ABOUT):
        return safe.json_object(data.tobytes())


def write(demos: Demos, path: Path | str, overwrite: bool = False) -> None:
    """Write flat arrays, lengths, terminated and about_json, whole or not at all."""
    path = Path(path)
    arrays: dict[str, Any] = {
        "observations": np.concatenate(demos.observations),
        "lengths": demos.lengths,
        "terminated": demos.terminated,
        ABOUT: np.frombuffer(json.dumps(demos.about).encode(), dtype=np.uint8),
    }
    if demos.actions is not None:
        arrays["actions"] = np.concatenate(demos.actions)
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    with naming(path):
        if path.exists() and not (overwrite and path.is_file()):
            raise DemoError(
                "exists", do="choose another name, or give --overwrite (overwrite=True in Python)"
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as scratch:
                new = Path(scratch) / "new"
                files.write(new, packed.getvalue())
                new.replace(path)
                files.fsync_dir(path.parent)
        except OSError as error:
            raise DemoError(
                f"cannot be written ({error.strerror})", do="choose another place"
            ) from None
