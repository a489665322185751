"""How fast a method learns: area under the curve, steps or seconds to a threshold, their ratio.

Curves are [..., runs, tasks, points] on one grid of steps for each task, higher is better.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from soar_il.statistics.aggregate import bootstrap
from soar_il.statistics.intervals import Interval


class Ratio(NamedTuple):
    """Steps (or seconds) of one method over those of another; how many runs never got there."""

    interval: Interval
    censored: tuple[int, int]
    runs: int  # of each, over all tasks
    lowest: float  # of a single pair, over all tasks
    highest: float


class Arrivals(NamedTuple):
    """When the runs of one task were at a threshold, inf for never; and all that each was given."""

    times: np.ndarray
    given: np.ndarray

    @property
    def restricted(self) -> np.ndarray:
        """A run that never arrives counts with all that it was given."""
        return np.minimum(self.times, self.given)


def on_grid(steps: ArrayLike, values: ArrayLike, grid: ArrayLike) -> np.ndarray:
    """A curve at the grid's steps, linear between evaluations; the first holds before itself.

    NaN past the last evaluation: a curve that stops early is not continued.
    """
    x, y, at = (np.asarray(array, float) for array in (steps, values, grid))
    return np.interp(at, x, y, right=np.nan)


def area(curves: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """The mean height of a curve over the grid."""
    return np.trapezoid(curves, grid, axis=-1) / (grid[-1] - grid[0])


def steps_to(curves: np.ndarray, grid: np.ndarray, threshold: float) -> np.ndarray:
    """The first step at which a curve is at the threshold, inf for one that never is."""
    return arrival(curves, np.broadcast_to(np.asarray(grid, float), curves.shape), threshold)


def arrival(curves: np.ndarray, clock: np.ndarray, threshold: float | np.ndarray) -> np.ndarray:
    """What its clock shows when a curve is first at the threshold, inf for one that never is."""
    reached = curves >= threshold
    first = np.take_along_axis(clock, reached.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    return np.where(reached.any(axis=-1), first, np.inf)


def arrivals(curves: ArrayLike, clock: ArrayLike, threshold: float) -> Arrivals:
    """Of runs [runs, points], by a clock that they share, as steps, or one each, as seconds."""
    made = np.asarray(curves, float)
    shown = np.broadcast_to(np.asarray(clock, float), made.shape)
    return Arrivals(arrival(made, shown, threshold), shown[:, -1])


def ratio(x: Sequence[Arrivals], y: Sequence[Arrivals], seed: int = 0) -> Ratio:
    """Mean time to the threshold, x over y; the geometric mean over tasks. Runs are paired.

    A run that never arrives counts with all that it was given. The ratio is of these restricted
    means, whoever was censored; where both are there from the start there is none.
    """
    cut = [np.stack([a.restricted for a in side], axis=1) for side in (x, y)]

    def of_means(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return _geometric(_over(a.mean(axis=-2), b.mean(axis=-2)))

    made = bootstrap(of_means, *cut, paired=True, seed=seed)
    single = _geometric(_over(*cut))
    never = [int(sum(np.isinf(a.times).sum() for a in side)) for side in (x, y)]
    ends = float(np.min(single)), float(np.max(single))
    return Ratio(made, (never[0], never[1]), cut[0].size, *ends)


def catch_up_ratio(x: ArrayLike, y: ArrayLike, grid: ArrayLike, seed: int = 0) -> Interval:
    """Steps after which x's mean curve is at y's best mean, over the steps y needed for it.

    The paper's "half the episodes": below 1 is faster. Each resample has a best mean of its own;
    where x never arrives the ratio is infinite, and so may the interval be. [runs, points] each,
    or [runs, tasks, points] and a grid for each task: the geometric mean over tasks.
    """
    curves = [np.asarray(c, float) for c in (x, y)]
    curves = [c[:, None] if c.ndim == 2 else c for c in curves]
    steps = np.broadcast_to(np.asarray(grid, float), curves[0].shape[1:])

    def of_means(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        mean, best = a.mean(axis=-3), b.mean(axis=-3)
        clock = np.broadcast_to(steps, mean.shape)
        top = best.argmax(axis=-1)[..., None]
        ours = arrival(mean, clock, np.take_along_axis(best, top, axis=-1))
        return _geometric(_over(ours, np.take_along_axis(clock, top, axis=-1)[..., 0]))

    return bootstrap(of_means, *curves, paired=True, seed=seed)


def _geometric(ratios: np.ndarray) -> np.ndarray:
    """The geometric mean over the last axis."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.exp(np.log(ratios).mean(axis=-1))


def _over(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Steps of one over steps of the other, nan for none over none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return x / y
