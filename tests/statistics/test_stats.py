import numpy as np
import pytest
from scipy import stats

from soar_il.statistics.intervals import Interval, mean_interval, shown, slope_interval


def test_the_interval_is_student_s():
    x = np.random.default_rng(0).normal(size=(12, 3))
    interval = mean_interval(x)
    for column in range(3):
        low, high = stats.t.interval(0.95, 11, x[:, column].mean(), stats.sem(x[:, column]))
        assert (interval.low[column], interval.high[column]) == pytest.approx((low, high))


def test_the_interval_covers():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(1000):
        interval = mean_interval(rng.normal(3.0, 2.0, size=8))
        covered += interval.low <= 3.0 <= interval.high
    assert 0.93 <= covered / 1000 <= 0.97


def test_few_seeds_have_no_interval():
    interval = mean_interval([1.0, 2.0, 3.0, 4.0])
    assert interval.value == 2.5
    assert np.isnan(interval.low)
    assert shown(interval) == "2.50"
    assert shown(mean_interval([1.0, 1.0, 1.0, 1.0, 1.0])) == "1.00 [1.00, 1.00]"


def test_what_is_shown_has_no_minus_nothing_and_says_infinity():
    assert shown(Interval(-0.001, -0.5, 0.0)) == "0.00 [-0.50, 0.00]"
    assert shown(Interval(0.5, 0.25, np.inf)) == "0.50 [0.25, ∞]"


def test_a_power_law_has_its_slope():
    x = np.array([100, 1000, 10_000])
    noise = np.random.default_rng(2).lognormal(0, 0.05, size=(20, 3))
    fitted = slope_interval(x, 7 * x**-0.5 * noise)
    assert fitted.value == pytest.approx(-0.5, abs=0.02)
    assert fitted.low < fitted.value < fitted.high < fitted.low + 0.1
    again = slope_interval(x, 7 * x**-0.5 * noise)
    assert again == fitted


def test_a_curve_that_reaches_zero_has_no_slope():
    y = np.tile([1.0, 0.1, -0.1], (6, 1))
    assert np.isnan(slope_interval([1, 10, 100], y).value)
