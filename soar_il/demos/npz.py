"""Demonstrations in .npz files.

The names understood, with [N, T, d] arrays or flat [sum, d] ones:
    observations, obs, states        needed
    actions, acts                    left out: states only
    lengths                          transitions of each trajectory
    mask, masks                      1 where a step is real ([N, T] arrays only)
    terminated, terminals            the environment ended it: a flag a trajectory or a step
    truncated, timeouts              a time limit or a cut did
    dones, done                      one of the two, not known which
    about_json                       provenance, UTF-8 bytes
Rewards are left out with a warning, and so is any other name. A file that soar-il did not write is
also tested for actions that do not belong to their states.
"""

import io
import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from soar_il import files
from soar_il.demos import align, ends, safe
from soar_il.demos.format import Demos
from soar_il.demos.validate import is_reward, naming
from soar_il.errors import DemoError, DemoWarning

NAMES = {
    "observations": ("observations", "obs", "states"),
    "actions": ("actions", "acts"),
    "lengths": ("lengths",),
    "mask": ("mask", "masks"),
    "terminated": ("terminated", "terminals"),
    "truncated": ("truncated", "timeouts"),
    "done": ("dones", "done"),
    "about": ("about_json",),
}


def read(path: Path | str, shift: int = 0) -> Demos:
    """Demonstrations from an .npz; ``shift=1`` for s_1 ... s_T beside a_0 ... a_{T-1}."""
    with naming(path):
        arrays = _arrays(Path(path))
        states, taken = arrays.get("observations"), arrays.get("actions")
        if states is None:
            raise DemoError(
                "has no observations", do=f"call them one of {', '.join(NAMES['observations'])}"
            )
        flags = ends.Flags(
            **{k: arrays.get(k) for k in ("lengths", "mask", "terminated", "truncated", "done")}
        )
        steps = states if taken is None else taken
        n = len(states) if states.ndim == 3 else None
        if steps.ndim != states.ndim or steps.ndim not in (2, 3):
            raise DemoError(
                f"observations {states.shape} and actions {steps.shape} are no known layout",
                do="give [N, T, d] arrays, or flat [sum, d] ones with lengths",
            )
        lengths, terminated = ends.resolve(
            flags, n, steps.shape[0 if n is None else 1], taken is None
        )
        demos = Demos.from_arrays(
            states, taken, lengths, terminated, _about(arrays, Path(path)), shift=shift
        )
    if "about" not in arrays and (wrong := align.suspicion(demos)):
        _warn(f"{path}: {wrong[0]} ({wrong[1]})")
    return demos


def _about(arrays: dict[str, npt.NDArray[Any]], path: Path) -> dict[str, Any]:
    if "about" not in arrays:
        return {"source": path.name}
    if arrays["about"].dtype != np.uint8:
        raise DemoError(f"is {arrays['about'].dtype}", "about_json", "give UTF-8 bytes as uint8")
    with naming("about_json"):
        return safe.json_object(arrays["about"].tobytes())


def _arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    known = {alias: field for field, aliases in NAMES.items() for alias in aliases}
    found: dict[str, npt.NDArray[Any]] = {}
    ignored = []
    with safe.archive(path) as opened:
        for name in (member.removesuffix(".npy") for member in opened.namelist()):
            if name not in known:
                ignored.append(name)
                continue
            if known[name] in found:
                raise DemoError(
                    f"{name} repeats {known[name]}", do=f"keep one of {NAMES[known[name]]}"
                )
            with naming(name):
                found[known[name]] = safe.member(opened, name)
    rewards = [name for name in ignored if is_reward(name)]
    if rewards:
        _warn(f"{path}: left out {', '.join(rewards)}: demonstrations carry no rewards")
    if others := [name for name in ignored if name not in rewards]:
        _warn(f"{path}: left out {', '.join(others)}: not names that are understood")
    return found


def _warn(text: str) -> None:
    warnings.warn(text, DemoWarning, stacklevel=4)


def write(demos: Demos, path: Path | str, overwrite: bool = False) -> None:
    """Write flat arrays, lengths, terminated and about_json, whole or not at all."""
    path = Path(path)
    arrays: dict[str, Any] = {
        "observations": np.concatenate(demos.observations),
        "lengths": demos.lengths,
        "terminated": demos.terminated,
        "about_json": np.frombuffer(json.dumps(demos.about).encode(), dtype=np.uint8),
    }
    if demos.actions is not None:
        arrays["actions"] = np.concatenate(demos.actions)
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    with naming(path):
        if path.exists() and not (overwrite and path.is_file()):
            raise DemoError("exists", do="choose another name, or overwrite=True")
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
