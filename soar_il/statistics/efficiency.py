"""How fast a method learns: area under the curve, steps or seconds to a threshold, their ratio.

Curves are [..., runs, tasks, points] on one grid of steps for each task, higher is better.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from soar_il.statistics.aggregate import bootstrap
from soar_il.statistics.intervals import Interval


class Ratio(NamedTuple):
    """Steps (or seconds) of one method over those of another; how many runs never got there."""

    interval: Interval
    censored: tuple[int, int]
    runs: int


def on_grid(steps: ArrayLike, values: ArrayLike, grid: ArrayLike) -> np.ndarray:
    """A curve at the grid's steps, linear between evaluations; the first holds before itself.

    NaN past the last evaluation: a curve that stops early is not continued.
    """
    x, y, at = (np.asarray(array, float) for array in (steps, values, grid))
    return np.interp(at, x, y, right=np.nan)


def area(curves: np.ndarray, grid: np.ndarray) -> Any:
    """The mean height of a curve over the grid."""
    return np.trapezoid(curves, grid, axis=-1) / (grid[-1] - grid[0])


def steps_to(curves: np.ndarray, grid: np.ndarray, threshold: float) -> np.ndarray:
    """The first step at which a curve is at the threshold, inf for one that never is."""
    return arrival(curves, np.broadcast_to(np.asarray(grid, float), curves.shape), threshold)


def arrival(curves: np.ndarray, clock: np.ndarray, threshold: float) -> np.ndarray:
    """What its clock shows when a curve is first at the threshold, inf for one that never is."""
    reached = curves >= threshold
    first = np.take_along_axis(clock, reached.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    return np.where(reached.any(axis=-1), first, np.inf)


def threshold_ratio(
    x: ArrayLike,
    y: ArrayLike,
    grid: np.ndarray,
    threshold: float,
    seed: int = 0,
    clocks: tuple[np.ndarray, np.ndarray] | None = None,
) -> Ratio:
    """Mean steps to the threshold, x over y, runs paired; [runs, points] each.

    Steps are restricted to the grid's end: a run that never arrives counts with all the steps that
    it was given. The ratio is of these restricted means, whoever was censored; where both are
    there from the start there is none. With ``clocks``, the seconds that each run had taken at
    the grid's steps, the ratio is of seconds.
    """
    curves = [np.asarray(c, float)[:, None] for c in (x, y)]
    shown = [np.broadcast_to(np.asarray(grid, float), c.shape) for c in curves]
    if clocks is not None:
        shown = [clock[:, None] for clock in clocks]
    times = [arrival(c, clock, threshold) for c, clock in zip(curves, shown, strict=True)]
    cut = [np.minimum(t, clock[..., -1]) for t, clock in zip(times, shown, strict=True)]

    def ratio(a: np.ndarray, b: np.ndarray) -> Any:
        return _over(a.mean(axis=(-2, -1)), b.mean(axis=(-2, -1)))

    made = bootstrap(ratio, *cut, paired=True, seed=seed)
    censored = tuple(int(np.isinf(t).sum()) for t in times)
    return Ratio(made, (censored[0], censored[1]), len(times[0]))


def catch_up_ratio(x: ArrayLike, y: ArrayLike, grid: np.ndarray, seed: int = 0) -> Interval:
    """Steps after which x's mean curve is at y's best mean, over the steps y needed for it.

    The paper's "half the episodes": below 1 is faster. Each resample has a best mean of its own;
    where x never arrives the ratio is infinite, and so may the interval be. [runs, points] each.
    """
    grid = np.asarray(grid, float)

    def ratio(a: np.ndarray, b: np.ndarray) -> Any:
        mean, best = a.mean(axis=(-3, -2)), b.mean(axis=(-3, -2))
        reached = mean >= best.max(axis=-1, keepdims=True)
        ours = np.where(reached.any(axis=-1), grid[reached.argmax(axis=-1)], np.inf)
        return _over(ours, grid[best.argmax(axis=-1)])

    curves = [np.asarray(c, float)[:, None] for c in (x, y)]
    return bootstrap(ratio, *curves, paired=True, seed=seed)


def _over(x: np.ndarray, y: np.ndarray) -> Any:
    """Steps of one over steps of the other, nan for none over none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return x / y
