"""Arrays as people have them, cut into trajectories."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from soar_il.demos.validate import FloatArray, numbers, plain
from soar_il.errors import DemoError


def whole_numbers(values: Any, where: str, count: int | None = None) -> list[int]:
    """A 1-D array of whole numbers of at least 1."""
    array = plain(values, where)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise DemoError(
            f"is {array.dtype} of shape {array.shape}", where, "give one whole number a trajectory"
        )
    if count is not None and len(array) != count:
        raise DemoError(
            f"has {len(array)} numbers for {count} trajectories", where, "give one for each"
        )
    for i, value in enumerate(array.tolist()):
        if value < 1:
            raise DemoError(
                f"is {value}",
                f"trajectory {i}, {where}",
                "a trajectory has at least one transition: leave this one out",
            )
    return [int(value) for value in array]


def _several(given: Any) -> bool:
    return isinstance(given, list | tuple)


def trajectories(
    observations: Any, actions: Any, lengths: Any, shift: int = 0
) -> tuple[list[FloatArray], list[FloatArray] | None, list[bool]]:
    """Trajectories, and for each whether its last action went for want of a successor.

    ``lengths`` counts transitions: T actions, T + 1 observations. With ``shift=1`` the rows are
    s_1 ... s_T and a_0 ... a_{T-1}: a_0 goes, since its state is unknown.
    """
    if shift not in (0, 1):
        raise DemoError(
            f"is {shift!r}", "shift", "0: row t is s_t and a_t; 1: row t is s_{t+1} and a_t"
        )
    return _pair(*cut(observations, actions, lengths), shift)


def cut(
    observations: Any, actions: Any, lengths: Any
) -> tuple[list[FloatArray], list[FloatArray] | None]:
    """One array of observations and one of actions for each trajectory, as long as they are."""
    states = _pieces("observations", observations)
    taken = None if actions is None else _pieces("actions", actions)
    if not isinstance(states, list) or (taken is not None and not isinstance(taken, list)):
        states, taken = _cut_flat(states, taken, lengths)
    elif taken is not None and len(taken) != len(states):
        raise DemoError(
            f"{len(states)} trajectories of observations, {len(taken)} of actions",
            do="give one array of actions for each trajectory",
        )
    elif lengths is not None:
        if _several(observations) or _several(actions):
            raise DemoError(
                "given with a list", "lengths", "leave it out: each array has its own length"
            )
        states, taken = _cut_padded(states, taken, lengths)
    return states, taken


def _pieces(field: str, given: Any) -> list[FloatArray] | FloatArray:
    """A list of trajectories, or one flat array [sum, d]."""
    if _several(given):
        return [numbers(part, f"trajectory {i}, {field}") for i, part in enumerate(given)]
    array = numbers(given, field)
    if array.ndim == 3:
        return list(array)
    if array.ndim == 2:
        return array
    raise DemoError(
        f"has {array.ndim} axes",
        field,
        "give a list of 2-D arrays, one [N, T, d] array, or one [sum, d] array with lengths",
    )


def _cut_flat(
    states: list[FloatArray] | FloatArray, taken: list[FloatArray] | FloatArray | None, lengths: Any
) -> tuple[list[FloatArray], list[FloatArray] | None]:
    if isinstance(states, list) or isinstance(taken, list):
        raise DemoError(
            "observations and actions have different layouts", do="give both in the same one"
        )
    if lengths is None:
        raise DemoError(
            f"are one 2-D array {states.shape}",
            "observations",
            "give lengths, the number of transitions of each trajectory; [array] if it is one",
        )
    counts = whole_numbers(lengths, "lengths")
    total, n = sum(counts), len(counts)
    if taken is not None and len(taken) != total:
        raise DemoError(
            f"has {len(taken)} rows, the lengths add up to {total}",
            "actions",
            "lengths counts the actions of each trajectory",
        )
    if len(states) == total + n:
        rows = [count + 1 for count in counts]
    elif taken is not None and len(states) == total:
        rows = counts
    else:
        raise DemoError(
            f"has {len(states)} rows, {n} trajectories of {total} transitions have {total + n}",
            "observations",
            "lengths counts transitions, one fewer than a trajectory's observations",
        )
    return _split(states, rows), None if taken is None else _split(taken, counts)


def _split(array: FloatArray, rows: Sequence[int]) -> list[FloatArray]:
    ends = np.cumsum(rows)
    return [array[end - size : end] for end, size in zip(ends, rows, strict=True)]


def _cut_padded(
    states: list[FloatArray], taken: list[FloatArray] | None, lengths: Any
) -> tuple[list[FloatArray], list[FloatArray] | None]:
    counts = whole_numbers(lengths, "lengths", len(states))
    # with as many observations as actions, row T is padding and not s_T
    final = taken is None or any(len(s) != len(a) for s, a in zip(states, taken, strict=True))
    for i, count in enumerate(counts):
        room = len(states[i]) - 1 if final else len(states[i])
        room = room if taken is None else min(room, len(taken[i]))
        if count > room:
            raise DemoError(
                f"is {count}, the array has room for {room} transitions",
                f"trajectory {i}, lengths",
                "lengths counts transitions, one fewer than a trajectory's observations",
            )
    cut = [s[: count + final] for s, count in zip(states, counts, strict=True)]
    return cut, None if taken is None else [
        a[:count] for a, count in zip(taken, counts, strict=True)
    ]


def _pair(
    states: list[FloatArray], taken: list[FloatArray] | None, shift: int
) -> tuple[list[FloatArray], list[FloatArray] | None, list[bool]]:
    missing = [len(s) == len(a) for s, a in zip(states, taken or states, strict=True)]
    if taken is None:
        return states, None, [False] * len(states)
    for i, (s, gone) in enumerate(zip(states, missing, strict=True)):
        if gone and len(s) == 1:
            raise DemoError(
                "has one observation and one action: no transition",
                f"trajectory {i}",
                "add the final observation, or leave this one out",
            )
        if shift == 1 and not gone:
            raise DemoError(
                f"has {len(s)} observations and {len(taken[i])} actions",
                f"trajectory {i}",
                "shift=1 is for s_1 ... s_T with a_0 ... a_{T-1}, as many of both",
            )
    if shift == 1:
        return states, [a[1:] for a in taken], [False] * len(states)
    return states, [a[:-1] if gone else a for a, gone in zip(taken, missing, strict=True)], missing
