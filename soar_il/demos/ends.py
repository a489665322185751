"""Where trajectories end, and which the environment ended, from what files say of it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from soar_il.demos.layout import whole_numbers
from soar_il.errors import DemoError

Array = np.ndarray
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Flags:
    """What was given; a flag is a number a trajectory ([N]) or a step ([N, T], or flat [sum]).

    ``terminated``: the environment ended it. ``truncated``: a time limit or a cut did. ``done``:
    one of the two. ``mask``: 1 where a step is real, 0 where it is padding. Of flat arrays also:
    ``ends`` and ``starts``, a flag a step or row numbers, where an end is the row after the last;
    ``splits``, the starts but the first.
    """

    lengths: Array | None = None
    terminated: Array | None = None
    truncated: Array | None = None
    done: Array | None = None
    mask: Array | None = None
    ends: Array | None = None
    starts: Array | None = None
    splits: Array | None = None


def resolve(
    flags: Flags, n: int | None, steps: int, state_only: bool, one: bool = False
) -> tuple[list[int] | None, Bools | None]:
    """Lengths in transitions, and which trajectories terminated; None where nothing says.

    ``n`` trajectories of ``steps`` rows, or one flat array of ``steps`` rows where n is None;
    ``one``: a flat array that nothing cuts is one trajectory.
    """
    rows = 1 if state_only else 0  # a row of states only is a state, not a transition
    given = {
        name: value
        for name in ("terminated", "truncated", "done")
        if (value := getattr(flags, name)) is not None
    }
    marks = _row_marks(flags, n, steps)
    counted = one or flags.lengths is not None or marks is not None
    by_step = {
        name: _flags(name, value, n, steps)
        for name, value in given.items()
        if _is_by_step(value, n, steps, counted)
    }
    lengths = None if flags.lengths is None else whole_numbers(flags.lengths, "lengths", n)
    if flags.mask is not None:
        lengths = _from_mask(flags.mask, n, steps, rows, lengths)
    ends = [*by_step.values(), *([] if marks is None else [marks])]
    if marks is not None and lengths is not None and lengths != _counts(marks, rows):
        raise DemoError("disagrees with ends or starts", "lengths", "give one of the two")
    if lengths is None and (ends or one):
        united = np.logical_or.reduce(ends) if ends else np.zeros(steps, np.bool_)
        lengths = whole_numbers(np.array(_counts(united, rows)), "lengths")
    count = n if n is not None else len(lengths or [])
    each = {
        name: _flags(name, np.atleast_1d(value), None, count)
        for name, value in given.items()
        if name not in by_step
    }

    def last(name: str) -> Bools:
        if name in each:
            return each[name]
        return _at_ends(name, by_step[name], lengths, n, steps, rows)

    if "terminated" in given:
        return lengths, last("terminated")
    if "done" in given and "truncated" in given:
        return lengths, last("done") & ~last("truncated")
    return lengths, None


def _is_by_step(value: Array, n: int | None, steps: int, counted: bool) -> bool:
    if n is not None:
        return value.ndim > 1
    return value.shape[:1] == (steps,) or not counted


def _flags(name: str, value: Array, n: int | None, steps: int) -> Bools:
    shape = (steps,) if n is None else (n, steps)
    if value.shape == (*shape, 1):
        value = value[..., 0]
    if value.shape != shape:
        raise DemoError(f"has shape {value.shape}, not {shape}", name, "give one flag for each")
    if not _is_bool(value):
        raise DemoError("holds something other than 0 and 1", name, "give bools")
    return value.astype(np.bool_)


def _is_bool(value: Array) -> bool:
    return value.dtype.kind in "biuf" and bool(np.isin(value, (0, 1)).all())


def _row_marks(flags: Flags, n: int | None, steps: int) -> Bools | None:
    """Flags at last rows, from ``ends``, ``starts`` and ``splits``."""
    found = None
    for name in ("ends", "starts", "splits"):
        value = getattr(flags, name)
        if value is None:
            continue
        if n is not None:
            raise DemoError(
                "is for flat arrays", name, "give lengths, mask, terminated, truncated or done"
            )
        if name != "splits" and value.shape == (steps,) and _is_bool(value):
            marks = value.astype(np.bool_)
            marks = marks if name == "ends" else np.append(marks[1:], True)
        else:
            marks = np.zeros(steps, np.bool_)
            marks[_row_numbers(name, value, steps) - 1] = True
        found = marks if found is None else found | marks
    return found


def _row_numbers(name: str, value: Array, steps: int) -> Array:
    """The rows after last rows."""
    if value.ndim != 1 or value.dtype.kind not in "iu" or (np.diff(value) <= 0).any():
        raise DemoError(
            f"is {value.dtype} of shape {value.shape}",
            name,
            "give a flag a step, or row numbers that grow",
        )
    numbers = value.astype(np.int64)
    if name == "ends" and len(numbers) and numbers[-1] == steps - 1:
        numbers = numbers + 1  # the last rows themselves
    elif name == "starts":
        numbers = numbers[1:] if len(numbers) and numbers[0] == 0 else numbers
    wrong = len(numbers) > 0 and (numbers[0] < 1 or numbers[-1] > steps)
    if wrong or (name == "ends" and (len(numbers) == 0 or numbers[-1] != steps)):
        raise DemoError(
            f"goes to {value[-1] if len(value) else 'nowhere'}, the arrays have {steps} rows",
            name,
            "count rows, from 0; an end is the row after a trajectory's last",
        )
    return numbers


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


def _counts(ends: Bools, rows: int) -> list[int]:
    """Transitions up to each first flag of [N, T], or between the flags of a flat array."""
    if ends.ndim == 2:
        width = ends.shape[1]
        return [(int(row.argmax()) + 1 if row.any() else width) - rows for row in ends]
    last = [*np.flatnonzero(ends).tolist()]
    if not last or last[-1] != len(ends) - 1:
        last.append(len(ends) - 1)
    return [int(count) - rows for count in np.diff([-1, *last])]


def _at_ends(
    name: str, flags: Bools, lengths: list[int] | None, n: int | None, steps: int, rows: int
) -> Bools:
    """The flag of each trajectory's last step; none may be set before."""
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
        parts = [flags[stop - size : stop] for stop, size in zip(stops, sizes, strict=True)]
    else:
        parts = [row[:size] for row, size in zip(flags, sizes, strict=True)]
    for i, part in enumerate(parts):
        if part[:-1].any():
            raise DemoError(
                "is set before the last step",
                f"trajectory {i}, step {int(part.argmax())}, {name}",
                "cut the trajectory there",
            )
    return np.array([bool(part[-1]) for part in parts])
