"""Estimates with intervals."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

FEWEST = 5  # seeds: an interval from fewer would be a guess


class Interval(NamedTuple):
    """An estimate and its confidence interval; the bounds are NaN below FEWEST seeds."""

    value: Any
    low: Any
    high: Any


def mean_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Student's interval for the mean over the first axis (seeds)."""
    x = np.asarray(values, dtype=float)
    mean = x.mean(axis=0)
    if len(x) < FEWEST:
        return Interval(mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan))
    from scipy import stats  # when it is needed: importing it takes 1.3 s

    half = stats.t.ppf(0.5 + level / 2, len(x) - 1) * x.std(axis=0, ddof=1) / np.sqrt(len(x))
    return Interval(mean, mean - half, mean + half)


def shown(interval: Interval, digits: int = 2) -> str:
    """``value [low, high]``, or the value alone where there is no interval."""
    value, low, high = (_text(x, digits) for x in interval)
    return value if np.isnan(interval.low) else f"{value} [{low}, {high}]"


def _text(x: float, digits: int) -> str:
    if np.isnan(x):
        return "-"
    if np.isinf(x):
        return "∞" if x > 0 else "-∞"
    text = f"{x:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def slope_interval(
    x: ArrayLike, y: ArrayLike, seed: int = 0, resamples: int = 2000, level: float = 0.95
) -> Interval:
    """Slope of log(mean over seeds of y [seeds, n]) on log x [n], bootstrapped over seeds.

    NaN where a mean is not positive: such a curve has no slope on logarithmic axes.
    """
    y = np.asarray(y, dtype=float)
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(y), size=(resamples, len(y)))
    means = np.concatenate([y.mean(axis=0, keepdims=True), y[rows].mean(axis=1)])
    u = np.log(np.asarray(x, dtype=float))
    u = u - u.mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes = np.log(means) @ u / (u @ u)
    if len(y) < FEWEST or not np.all(np.isfinite(slopes)):
        return Interval(slopes[0], np.nan, np.nan)
    low, high = np.quantile(slopes[1:], [0.5 - level / 2, 0.5 + level / 2])
    return Interval(slopes[0], low, high)
