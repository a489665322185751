"""Statistics over runs and tasks, against formulas written another way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from soar_il.statistics import aggregate as agg
from soar_il.statistics import efficiency as eff
from soar_il.statistics.intervals import shown

scores = hnp.arrays(
    float,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12),
    elements=st.floats(-2, 2, width=16),
)


@given(scores)
def test_iqm_is_the_trimmed_mean(x):
    assert agg.iqm(x) == pytest.approx(stats.trim_mean(x, 0.25, axis=None), abs=1e-12)


@given(scores)
def test_the_gap_is_a_mean_of_shortfalls(x):
    wanted = np.mean([max(1 - value, 0) for value in x.ravel()])
    assert agg.optimality_gap(x) == pytest.approx(wanted, abs=1e-12)


@given(hnp.arrays(float, (7, 3), elements=st.floats(0, 2, width=16)), st.integers(1, 9))
def test_improvement_is_mann_and_whitney_s(x, n):
    y = np.random.default_rng(n).choice(x.ravel(), size=(n, 3))
    u = [stats.mannwhitneyu(x[:, t], y[:, t]).statistic / (7 * n) for t in range(3)]
    assert agg.probability_of_improvement(x, y) == pytest.approx(np.mean(u), abs=1e-12)
    both = agg.probability_of_improvement(x, y) + agg.probability_of_improvement(y, x)
    assert both == pytest.approx(1, abs=1e-12)


@given(hnp.arrays(float, (6, 2), elements=st.floats(0, 1, width=16)))
def test_the_area_under_a_profile_is_the_mean(x):
    """For scores in [0, 1]: the integral of P(X > tau)."""
    tau = (np.arange(4096) + 0.5) / 4096
    assert agg.profile(x, tau).mean() == pytest.approx(x.mean(), abs=1e-3)


def test_a_profile_gives_each_task_the_same_weight():
    x = np.array([[0.1, 0.9], [0.3, 0.9]])
    np.testing.assert_allclose(agg.profile(x, np.array([0.0, 0.2, 0.5, 1.0])), [1, 0.75, 0.5, 0])


def test_resampling_stays_within_a_task():
    """Tasks that differ, runs that do not: nothing is uncertain."""
    x = np.tile([0.1, 0.5, 0.9], (6, 1))
    assert agg.bootstrap(agg.mean, x) == pytest.approx((0.5, 0.5, 0.5))


def test_the_same_seed_gives_the_same_interval_and_another_does_not():
    x = np.random.default_rng(0).normal(size=(8, 3))
    assert agg.bootstrap(agg.iqm, x) == agg.bootstrap(agg.iqm, x)
    assert agg.bootstrap(agg.iqm, x) != agg.bootstrap(agg.iqm, x, seed=1)


def test_pairs_cancel_what_they_share():
    rng = np.random.default_rng(1)
    luck = rng.normal(0, 5, size=(10, 1))
    y = luck + rng.normal(0, 0.1, size=(10, 1))
    x = luck + 1 + rng.normal(0, 0.1, size=(10, 1))
    paired = agg.bootstrap(agg.difference, x, y, paired=True)
    apart = agg.bootstrap(agg.difference, x, y)
    assert paired.low > 0.8
    assert paired.high < 1.2
    assert apart.low < 0 < apart.high


def test_fewer_than_five_runs_have_no_interval():
    interval = agg.bootstrap(agg.iqm, np.arange(8.0).reshape(4, 2))
    assert interval.value == 3.5
    assert np.isnan(interval.low)
    assert np.isnan(interval.high)


def draw(rng, kind, n, tasks):
    noise = {
        "normal": lambda: rng.normal(size=(n, tasks)),
        "heavy": lambda: rng.standard_t(3, size=(n, tasks)),
        "bimodal": lambda: rng.choice([-1.0, 1.0], (n, tasks)) + 0.2 * rng.normal(size=(n, tasks)),
    }[kind]()
    return np.array([0.2, 0.5, 0.8, 0.6])[:tasks] + 0.3 * noise


@pytest.mark.parametrize("kind", ["normal", "heavy", "bimodal"])
@pytest.mark.parametrize(("n", "tasks"), [(5, 1), (5, 4), (10, 4)])
@pytest.mark.parametrize("statistic", [agg.iqm, agg.mean])
def test_intervals_cover(kind, n, tasks, statistic):
    """95 % intervals hold the truth in 88 to 99 % of 300 studies; plain percentiles do not."""
    rng = np.random.default_rng(0)
    truth = statistic(draw(rng, kind, 200_000, tasks))
    covered = 0
    for study in range(300):
        made = agg.bootstrap(statistic, draw(rng, kind, n, tasks), seed=study, resamples=400)
        covered += made.low <= truth <= made.high
    assert 0.88 <= covered / 300 <= 0.99, covered / 300


def test_paired_differences_cover():
    rng, covered = np.random.default_rng(3), 0
    for study in range(400):
        y = rng.normal(size=(5, 4))
        x = y + 0.3 + rng.normal(0, 0.5, size=(5, 4))
        made = agg.bootstrap(agg.difference, x, y, paired=True, seed=study, resamples=400)
        covered += made.low <= 0.3 <= made.high
    assert 0.90 <= covered / 400 <= 0.99


GRID = np.arange(1, 11) * 1000.0


def ramp(reach):
    """Reaches 1 at step ``reach``, and stays."""
    return np.minimum(GRID / reach, 1.0)


def over(x, y, grid, threshold, seed=0):
    """The ratio of steps on one task."""
    return eff.ratio(*([eff.arrivals(side, grid, threshold)] for side in (x, y)), seed=seed)


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_the_area_of_a_line_is_its_middle(a, b):
    line = a + (b - a) * (GRID - GRID[0]) / (GRID[-1] - GRID[0])
    assert eff.area(line, GRID) == pytest.approx((a + b) / 2)


def test_curves_meet_on_a_grid_and_are_not_made_longer():
    curve = eff.on_grid([500, 2500, 4000], [1.0, 3.0, 0.0], [0, 1500, 4000, 5000])
    np.testing.assert_allclose(curve[:3], [1, 2, 0])
    assert np.isnan(curve[3])


def test_the_first_crossing_counts_and_none_is_infinite():
    dips = np.array([0, 0.95, 0.2, 0.3, 0.99, 1, 1, 1, 1, 1])
    assert eff.steps_to(dips, GRID, 0.9) == 2000
    assert eff.steps_to(0.5 * dips, GRID, 0.9) == np.inf


def test_twice_as_fast_is_a_ratio_of_a_half():
    fast, slow = np.tile(ramp(4000), (6, 1)), np.tile(ramp(8000), (6, 1))
    assert over(fast, slow, GRID, 1.0).interval == pytest.approx((0.5, 0.5, 0.5))
    assert eff.catch_up_ratio(fast, slow, GRID) == pytest.approx((0.5, 0.5, 0.5))


def test_over_tasks_a_ratio_is_the_geometric_mean():
    """Twice as fast on one and half as fast on the other is as fast."""
    fast, slow = np.tile(ramp(4000), (6, 1)), np.tile(ramp(8000), (6, 1))
    sides = [[eff.arrivals(c, GRID, 1.0) for c in side] for side in ((fast, slow), (slow, fast))]
    made = eff.ratio(*sides)
    assert made.interval == pytest.approx((1, 1, 1))
    assert (made.runs, made.lowest, made.highest) == (12, pytest.approx(1), pytest.approx(1))
    both = np.stack([fast, slow], axis=1), np.stack([slow, slow], axis=1)
    grids = np.stack([GRID, 10 * GRID])
    assert eff.catch_up_ratio(*both, grids) == pytest.approx(tuple(np.full(3, 0.5**0.5)))


def test_the_range_of_a_ratio_is_of_single_pairs():
    fast = np.stack([ramp(2000), ramp(4000), ramp(8000)])
    made = over(fast, np.tile(ramp(8000), (3, 1)), GRID, 1.0)
    assert (made.lowest, made.highest) == pytest.approx((0.25, 1.0))
    assert np.isnan(made.interval.low)  # three runs have no interval


def test_runs_that_never_arrive_are_counted_and_cut_at_the_end():
    fast = np.stack([ramp(5000)] * 5)
    slow = np.stack([ramp(10_000)] * 3 + [0 * GRID] * 2)
    ratio = over(fast, slow, GRID, 1.0)
    assert ratio.censored == (0, 2)
    assert ratio.runs == 5
    assert ratio.interval.value == pytest.approx(0.5)
    other = over(slow, fast, GRID, 1.0)
    assert other.censored == (2, 0)


def test_runs_that_begin_at_the_goal_have_no_ratio():
    """As those that start from a clone; and nobody is warned of a division."""
    there, from_zero = np.ones((5, 10)), GRID - GRID[0]
    ratio = over(there, there, from_zero, 0.9)
    assert shown(ratio.interval) == "-"
    assert ratio.censored == (0, 0)
    assert shown(eff.catch_up_ratio(there, there, from_zero)) == "-"


def test_a_method_that_never_catches_up_has_no_finite_ratio():
    good, bad = np.stack([ramp(4000)] * 5), np.stack([0.5 * ramp(4000)] * 5)
    assert eff.catch_up_ratio(bad, good, GRID) == (np.inf, np.inf, np.inf)
    sometimes = np.stack([1.1 * ramp(4000)] * 4 + [0.7 * ramp(4000)])
    ratio = eff.catch_up_ratio(sometimes, good, GRID)
    assert np.isfinite(ratio.value)
    assert ratio.high == np.inf


def test_the_ratio_of_steps_covers():
    """Noise on the time of arrival; the truth is a half."""
    rng, covered, fine = np.random.default_rng(5), 0, np.arange(1, 1001) * 10.0
    for study in range(200):
        x, y = rng.uniform(3000, 5000, (8, 1)), rng.uniform(6000, 10_000, (8, 1))
        made = over(fine / x, fine / y, fine, 0.8, seed=study).interval
        covered += made.low <= 0.5 <= made.high
    assert covered / 200 >= 0.9
