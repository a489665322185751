"""Whether demonstrations begin where ``reset()`` begins, and in the same units."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from soar_il.demos.format import Demos
from soar_il.demos.probe import Probe

Array = npt.NDArray[np.float64]

FAR = 1.0  # times what resets cover: a start that lies so far outside is none
FEWEST = 3  # episodes, to tell units from chance
ALIKE = 0.4  # nats that factors of coordinates may differ by, drawn at random as they are
ENOUGH = 12  # starting numbers that must agree on a factor
LARGE = 3.0  # a factor that chance does not give
DEGREES = 180 / np.pi


class Distance(NamedTuple):
    """How far the episodes' starts lie outside of what resets cover, in units of that."""

    episodes: Array  # [N], of the farthest coordinate
    farthest: npt.NDArray[np.int64]  # [N], which that is
    low: Array
    high: Array


def distance(demos: Demos, seen: Probe) -> Distance:
    """0 within the lowest and highest reset; 1 is as far outside as they are from each other."""
    first = _first(demos)
    low, high = seen.starts.min(axis=0), seen.starts.max(axis=0)
    moves = seen.states.std(axis=0)
    least = np.maximum(1e-2 * moves, 1e-3 * np.maximum(np.abs(high), 1e-3))
    apart = np.maximum(np.maximum(low - first, first - high), 0) / np.maximum(high - low, least)
    return Distance(apart.max(axis=1), apart.argmax(axis=1), low, high)


def factor(demos: Demos, seen: Probe) -> tuple[float, list[int]] | None:
    """By how much some coordinates are too large alike, or too small; None if none can be told.

    (1.0, []) where all are as resets give them.
    """
    if len(demos) < FEWEST:
        return None
    ours, theirs = (np.sqrt((x**2).mean(axis=0)) for x in (_first(demos), seen.starts))
    telling = (ours > 1e-8) & (theirs > 1e-8)
    if not telling.any():
        return None
    ratio = np.log(np.where(telling, ours, 1.0) / np.where(telling, theirs, 1.0))
    off = np.flatnonzero(telling & (np.abs(ratio) > np.log(LARGE)))
    if (
        len(off) * len(demos) < ENOUGH
        or np.median(np.abs(ratio[off] - np.median(ratio[off]))) > ALIKE
    ):
        return 1.0, []
    return float(np.exp(np.median(ratio[off]))), [int(i) for i in off]


def unit(times: float) -> str:
    """What a factor suggests."""
    if abs(np.log(times / DEGREES)) < ALIKE:
        return "degrees in place of radians?"
    if abs(np.log(times * DEGREES)) < ALIKE:
        return "radians in place of degrees?"
    return "other units, or normalised?"


def _first(demos: Demos) -> Array:
    return np.stack([states[0] for states in demos.observations]).astype(np.float64)
