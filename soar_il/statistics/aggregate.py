"""Scores of many runs on several tasks as a few numbers: IQM, optimality gap, profiles, P(X > Y).

Scores are [..., runs, tasks], higher is better. Runs are drawn anew within each task (a stratified
bootstrap), all resamples at once, from a seed of their own.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from soar_il.statistics.intervals import FEWEST, Interval

RESAMPLES = 2000
Statistic = Callable[..., np.ndarray]


def iqm(scores: np.ndarray) -> np.ndarray:
    """The mean of the middle half of all runs of all tasks."""
    flat = np.sort(_flat(scores), axis=-1)
    cut = flat.shape[-1] // 4
    return flat[..., cut : flat.shape[-1] - cut].mean(axis=-1)


def iqm_curve(curves: np.ndarray) -> np.ndarray:
    """The interquartile mean at each point, [..., runs, tasks, points] to [..., points]."""
    return np.moveaxis(iqm(np.moveaxis(curves, -1, 0)), 0, -1)


def mean(scores: np.ndarray) -> np.ndarray:
    return _flat(scores).mean(axis=-1)


def optimality_gap(scores: np.ndarray, goal: float = 1.0) -> np.ndarray:
    """How far runs fall short of ``goal`` on average; what is beyond it does not make up for it."""
    return goal - np.minimum(_flat(scores), goal).mean(axis=-1)


def probability_of_improvement(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """That a run of x beats a run of y on the same task, ties counting half; mean over tasks."""
    over, under = x[..., :, None, :], y[..., None, :, :]
    return ((over > under) + 0.5 * (over == under)).mean(axis=(-3, -2, -1))


def profile(scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """The share of runs above each threshold, [..., thresholds]; each task counts the same."""
    return (scores[..., None] > thresholds).mean(axis=(-3, -2))


def bootstrap(
    statistic: Statistic,
    *samples: ArrayLike,
    paired: bool = False,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Interval:
    """``statistic(*samples)`` with an interval; samples are [runs, tasks, ...].

    ``paired`` samples keep their rows together, as runs of the same seed.
    """
    arrays = [np.asarray(sample, float) for sample in samples]
    value = np.asarray(statistic(*arrays))
    runs = min(len(array) for array in arrays)
    if runs < FEWEST:
        nothing = np.full_like(value, np.nan, dtype=float)
        return Interval(value, nothing, nothing)
    rng = np.random.default_rng(seed)
    drawn: list[np.ndarray] = []
    rows = None
    for array in arrays:
        if rows is None or not paired:
            rows = rng.integers(len(array), size=(resamples, *array.shape[:2]))
        drawn.append(array[rows, np.arange(array.shape[1])])
    share = _widened(runs, level)
    # "higher" and "lower" pick resamples as they are, so that an infinite one stays what it is.
    values = np.asarray(statistic(*drawn))
    low = np.quantile(values, share, axis=0, method="lower")
    high = np.quantile(values, 1 - share, axis=0, method="higher")
    return Interval(value, low, high)


def _widened(runs: int, level: float) -> float:
    """The percentile that ends the interval.

    The bootstrap's spread is too small by sqrt((n - 1) / n) and knows nothing of Student's tails.
    """
    from scipy import stats  # when it is needed: importing it takes 1.3 s

    z = stats.t.ppf(0.5 + level / 2, runs - 1) * np.sqrt(runs / (runs - 1))
    return float(stats.norm.sf(z))


def difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of the means; with ``paired`` rows, the mean of the paired differences."""
    return mean(x) - mean(y)


def iqm_difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of the interquartile means; with ``paired`` rows, drawn from the same seeds."""
    return iqm(x) - iqm(y)


def _flat(scores: np.ndarray) -> np.ndarray:
    return scores.reshape(*scores.shape[:-2], -1)
