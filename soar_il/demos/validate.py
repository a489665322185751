"""What makes demonstrations usable: each check names the trajectory, the step and the remedy."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from soar_il.errors import DemoError
from soar_il.files import Fields

FloatArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]

LARGEST = 1e18  # the square of more overflows float32, and training squares
DEEPEST = 20
LARGEST_WHOLE = 2**24  # float32 holds every whole number up to here


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Errors raised inside name the file."""
    try:
        yield
    except DemoError as error:
        where = f"{path}: {error.where}" if error.where else str(path)
        raise DemoError(error.what, where, error.do) from None


def is_reward(name: str) -> bool:
    """Whether an array or key of that name would carry rewards."""
    return bool(re.search(r"reward|return|^rews?$|^rtg$", name, re.IGNORECASE))


def plain(array: Any, where: str) -> np.ndarray:
    """Anything array-like as an array, hiding nothing."""
    if isinstance(array, np.ma.MaskedArray):
        raise DemoError("is a masked array", where, "cut what is masked, and give lengths")
    try:
        return np.asarray(array)
    except ValueError:
        raise DemoError(
            "rows of different sizes", where, "give a list with one 2-D array for each trajectory"
        ) from None


def numbers(array: Any, where: str) -> FloatArray:
    """An array as read-only float32.

    Floats of any width and byte order and whole numbers up to 2**24 are converted by value;
    anything else, bool included (a mask is not an observation), is refused.
    """
    array = plain(array, where)
    kind = array.dtype.kind
    if kind not in "fiu":
        remedy = "convert it to float32 yourself"
        if kind == "O":
            remedy = "give a list with one 2-D array for each trajectory, not an array of objects"
        raise DemoError(f"is of type {array.dtype}, not of real numbers", where, remedy)
    if kind in "iu" and array.size and max(-int(array.min()), int(array.max())) > LARGEST_WHOLE:
        raise DemoError(
            f"holds whole numbers beyond {LARGEST_WHOLE}, which float32 rounds",
            where,
            "scale it, or encode it as several features",
        )
    if array.dtype == np.float32 and array.flags.c_contiguous and not array.flags.writeable:
        return array
    with np.errstate(over="ignore", invalid="ignore"):  # the range is checked with its place named
        array = np.array(array, dtype=np.float32, order="C")
    array.flags.writeable = False
    return array


def structure(
    observations: Sequence[FloatArray],
    actions: Sequence[FloatArray] | None,
    terminated: BoolArray,
) -> None:
    """The shapes fit together and every number is usable."""
    if not observations:
        raise DemoError("no trajectory", do="give at least one")
    _parts("observations", observations)
    for i, states in enumerate(observations):
        if len(states) < 2:
            raise DemoError(
                f"has {len(states)} observation{'' if len(states) == 1 else 's'}: no transition",
                f"trajectory {i}, observations",
                "a trajectory is s_0 ... s_T with T >= 1: leave this one out",
            )
    if actions is not None:
        if len(actions) != len(observations):
            raise DemoError(
                f"{len(observations)} trajectories of observations, {len(actions)} of actions",
                do="give one array of actions for each trajectory, or none at all",
            )
        _parts("actions", actions)
        for i, (states, taken) in enumerate(zip(observations, actions, strict=True)):
            if len(states) != len(taken) + 1:
                raise DemoError(
                    f"has {len(states)} observations and {len(taken)} actions",
                    f"trajectory {i}",
                    "T actions need T + 1 observations, s_0 ... s_T",
                )
    if terminated.dtype != np.bool_ or terminated.shape != (len(observations),):
        raise DemoError(
            f"is {terminated.dtype} of shape {terminated.shape}",
            "terminated",
            f"give one bool for each of the {len(observations)} trajectories",
        )


def _parts(field: str, arrays: Sequence[FloatArray]) -> None:
    for i, array in enumerate(arrays):
        where = f"trajectory {i}, {field}"
        if array.ndim != 2:
            raise DemoError(
                f"has {array.ndim} axes",
                where,
                "give a 2-D array [steps, size]; a[:, None] makes a single feature one",
            )
        if array.shape[1] == 0:
            raise DemoError("has no features", where, "give [steps, size] with size >= 1")
        if array.shape[1] != arrays[0].shape[1]:
            raise DemoError(
                f"has {array.shape[1]} features, trajectory 0 has {arrays[0].shape[1]}",
                where,
                "all trajectories come from one environment",
            )
        usable = np.abs(array) <= LARGEST  # nan is not
        if not usable.all():
            step, feature = np.argwhere(~usable)[0]
            raise DemoError(
                f"is {array[step, feature]:g}",
                f"trajectory {i}, step {step}, {field}[{feature}]",
                f"leave the trajectory out or mend it; values stay within {LARGEST:g}",
            )


def provenance(about: Any) -> Fields:
    """A copy of ``about`` as JSON would give it back."""
    if not isinstance(about, dict):
        raise DemoError(f"is {type(about).__name__}", "about", "give a dictionary")
    try:
        copy: Fields = json.loads(json.dumps(about, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise DemoError(f"is not JSON ({error})", "about", "keep to text, numbers, lists") from None
    if not isinstance(copy.get("history", []), list):
        raise DemoError("is not a list", "about.history", "leave it out: it is kept for you")
    _no_reward_key(copy, "about")
    return copy


def _no_reward_key(value: Any, where: str, depth: int = 0) -> None:
    if depth > DEEPEST:
        raise DemoError(f"is nested deeper than {DEEPEST}", "about", "keep provenance short")
    if isinstance(value, dict):
        for key, inner in value.items():
            if is_reward(key):
                raise DemoError(
                    f"has the key {key!r}", where, "rewards are for evaluation: keep them elsewhere"
                )
            _no_reward_key(inner, f"{where}.{key}", depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _no_reward_key(inner, where, depth + 1)
