"""Where trajectories end, from the flags that files carry."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from soar_il.demos.layout import whole_numbers
from soar_il.errors import DemoError

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Flags:
    """End flags; each is a number a trajectory ([N]) or a number a step ([N, T], or flat [sum]).

    ``terminated``: the environment ended it. ``truncated``: a time limit or a cut did. ``done``:
    one of the two. ``mask``: 1 where a step is real, 0 where it is padding.
    """

    lengths: Array | None = None
    terminated: Array | None = None
    truncated: Array | None = None
    done: Array | None = None
    mask: Array | None = None


def resolve(
    flags: Flags, n: int | None, steps: int, state_only: bool
) -> tuple[list[int] | None, Array | None]:
    """Lengths in transitions, and which trajectories terminated; None where nothing says.

    ``n`` trajectories of ``steps`` rows, or one flat array of ``steps`` rows where n is None.
    """
    per_step = {
        name: _flags(name, value, n, steps)
        for name in ("terminated", "truncated", "done")
        if (value := getattr(flags, name)) is not None and _is_per_step(value, n, steps, flags)
    }
    lengths = None if flags.lengths is None else whole_numbers(flags.lengths, "lengths", n)
    rows = 1 if state_only else 0  # a row of states only is a state, not a transition
    if flags.mask is not None:
        lengths = _from_mask(flags.mask, n, steps, rows, lengths)
    if lengths is None and per_step:
        ends = np.logical_or.reduce(list(per_step.values()))
        counted = _first_true(ends) if n is not None else _segments(ends)
        lengths = whole_numbers(np.array(counted) - rows, "lengths")
    if flags.terminated is None:
        return lengths, None
    if "terminated" not in per_step:
        count = n if n is not None else len(lengths or [])
        return lengths, _flags("terminated", flags.terminated, None, count)
    return lengths, _at_ends(per_step["terminated"], lengths, n, steps, rows)


def _is_per_step(value: Array, n: int | None, steps: int, flags: Flags) -> bool:
    if n is not None:
        return value.ndim > 1
    return value.shape[:1] == (steps,) or flags.lengths is None


def _flags(name: str, value: Array, n: int | None, steps: int) -> npt.NDArray[np.bool_]:
    shape = (steps,) if n is None else (n, steps)
    if value.shape == (*shape, 1):
        value = value[..., 0]
    if value.shape != shape:
        raise DemoError(f"has shape {value.shape}, not {shape}", name, "give one flag for each")
    if value.dtype.kind not in "biuf" or not np.isin(value, (0, 1)).all():
        raise DemoError("holds something other than 0 and 1", name, "give bools")
    return value.astype(np.bool_)


def _from_mask(
    mask: Array, n: int | None, steps: int, rows: int, lengths: list[int] | None
) -> list[int]:
    if n is None:
        raise DemoError("given with flat arrays", "mask", "give lengths instead")
    real = _flags("mask", mask, n, steps)
    counts = real.sum(axis=1)
    for i in range(n):
        if not real[i].any():
            raise DemoError("is all zero", f"trajectory {i}, mask", "leave this trajectory out")
        if not real[i, : counts[i]].all():
            raise DemoError(
                "is zero before the end",
                f"trajectory {i}, step {int(np.argmin(real[i]))}, mask",
                "a mask is ones and then zeros: cut the trajectory in two",
            )
    found = whole_numbers(counts - rows, "mask")
    if lengths is not None and lengths != found:
        raise DemoError("disagrees with mask", "lengths", "give one of the two")
    return found


def _first_true(ends: npt.NDArray[np.bool_]) -> list[int]:
    width = ends.shape[1]
    return [int(row.argmax()) + 1 if row.any() else width for row in ends]


def _segments(ends: npt.NDArray[np.bool_]) -> list[int]:
    last = [*np.flatnonzero(ends).tolist()]
    if not last or last[-1] != len(ends) - 1:
        last.append(len(ends) - 1)
    return [int(count) for count in np.diff([-1, *last])]


def _at_ends(
    terminated: npt.NDArray[np.bool_],
    lengths: list[int] | None,
    n: int | None,
    steps: int,
    rows: int,
) -> npt.NDArray[np.bool_]:
    lengths = lengths if lengths is not None else [steps - rows] * (n or 1)
    sizes = [length + rows for length in lengths]
    if n is None:
        stops = np.cumsum(sizes).tolist()
        if stops[-1] > steps:
            raise DemoError(
                f"add up to {sum(lengths)}, the arrays have {steps} rows",
                "lengths",
                "lengths counts the transitions of each trajectory",
            )
        parts = [terminated[stop - size : stop] for stop, size in zip(stops, sizes, strict=True)]
    else:
        parts = [row[:size] for row, size in zip(terminated, sizes, strict=True)]
    for i, part in enumerate(parts):
        if part[:-1].any():
            raise DemoError(
                "is set before the last step",
                f"trajectory {i}, step {int(part.argmax())}, terminated",
                "cut the trajectory there",
            )
    return np.array([bool(part[-1]) for part in parts])
