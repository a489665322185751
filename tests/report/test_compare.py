"""Any two arms: who is ahead, by how much, and in which words that may be said."""

import dataclasses

import numpy as np
import pytest
import study as made_up

from soar_il.report import compare, failures, headline
from soar_il.report.results import Reference, Study, value_at
from soar_il.statistics import aggregate
from soar_il.statistics import efficiency as eff

STEPS = np.arange(1, 11) * 5000.0


def arm(base, level, seeds=6, env="Hopper-v5", **more):
    return [
        made_up.result(env, 1, seed, level + 0.01 * seed, base=base, **more)
        for seed in range(seeds)
    ]


def study(*arms):
    return Study(tuple(r for runs in arms for r in runs), ())


def said(*arms):
    made = study(*arms)
    return headline.headlines(made, compare.comparisons(made))


def test_two_bases_are_compared_and_the_better_comes_first():
    (c,) = compare.comparisons(study(arm("csil", 0.5), arm("ml-irl", 0.8)))
    assert (c.ours, c.theirs) == ("ml-irl", "csil")
    assert c.difference.value == pytest.approx(0.3 * (1 - np.exp(-3)), abs=0.02)
    assert c.better.value == 1.0
    assert c.seeds == 6


def test_the_page_opens_with_who_is_ahead_by_how_much():
    (sentence,) = said(arm("csil", 0.5), arm("ml-irl", 0.8))
    assert sentence.startswith("ml-irl is ahead of csil by 0.2")
    assert "[" in sentence
    assert sentence.endswith(
        "of the expert's lead over random play after 50,000 steps on Hopper-v5 (6 seeds)."
    )


def test_three_seeds_have_a_range_and_no_interval():
    (sentence,) = said(arm("csil", 0.5, seeds=3), arm("ml-irl", 0.8, seeds=3))
    assert "(3 seeds: range 0.2" in sentence
    assert "no interval)" in sentence
    assert "[" not in sentence
    assert "ahead" not in sentence


def test_what_cannot_be_told_apart_is_not():
    rng = np.random.default_rng(0)
    arms = [
        [made_up.result("Hopper-v5", 1, s, 0.8 + rng.normal(0, 0.2), base=base) for s in range(6)]
        for base in ("csil", "ml-irl")
    ]
    (sentence,) = said(*arms)
    assert "are not told apart" in sentence


def test_of_many_arms_it_is_said_that_the_best_was_picked():
    (sentence,) = said(arm("a", 0.5), arm("b", 0.7), arm("c", 0.9))
    assert sentence.startswith("The highest of 3 arms beside the next: c is ahead of b by")
    assert "picked by this number" in sentence


def test_soar_beside_its_base_is_what_is_said_where_a_third_arm_is_a_line_to_compare_with():
    soar = [made_up.result("Hopper-v5", 4, s, 0.9 + 0.01 * s, base="ml-irl") for s in range(6)]
    (sentence,) = said(arm("ml-irl", 0.5), soar, arm("bc", 1.2))
    assert sentence.startswith("ml-irl + SOAR, L = 4 is ahead of ml-irl by")
    assert "bc is at" in sentence
    assert "highest" not in sentence


def test_one_arm_says_where_it_is_and_where_it_began():
    (sentence,) = said(arm("csil", 0.8, seeds=1))
    assert "csil is at 0.7" in sentence
    assert "its first evaluation, after 5,000, was 0.1" in sentence


def test_everything_is_compared_after_steps_that_both_have_reached():
    """One arm ran twice as long, and would look better at its own end."""
    long = [dataclasses.replace(r, steps=2 * r.steps) for r in arm("csil", 0.8)]
    (c,) = compare.comparisons(study(arm("ml-irl", 0.8), long))
    assert c.steps == 50_000
    assert c.ours == "ml-irl"
    half = np.mean([value_at(r, 50_000) for r in long])
    assert half < 0.9 * np.mean([r.normal[-1] for r in long])


def test_seeds_without_a_partner_are_left_out_and_counted():
    (c,) = compare.comparisons(study(arm("csil", 0.5, seeds=5), arm("ml-irl", 0.8, seeds=7)))
    assert (c.seeds, c.unpaired) == (5, 2)


def test_over_environments_each_counts_the_same():
    arms = [
        arm(base, level, env=env)
        for env, gain in (("Hopper-v5", 0.1), ("Ant-v5", 0.3))
        for base, level in (("csil", 0.5), ("ml-irl", 0.5 + gain))
    ]
    found = compare.comparisons(study(*arms))
    assert [c.envs for c in found] == [
        ("Ant-v5", "Hopper-v5"), ("Ant-v5",), ("Hopper-v5",)
    ]  # fmt: skip
    assert found[0].difference.value == pytest.approx(0.2 * (1 - np.exp(-3)), abs=0.03)
    assert len(said(*arms)) == 1


def test_faster_in_steps_may_be_slower_in_seconds():
    """Half the steps, each taking four times as long."""
    quick = arm("a", 1.5, speed=8.0)
    slow = arm("b", 1.5, speed=2.0)
    timed = [
        [dataclasses.replace(r, seconds=per * r.steps) for r in side]
        for side, per in ((quick, 0.04), (slow, 0.01))
    ]
    (c,) = compare.comparisons(study(*timed))
    assert c.ours == "a"
    assert c.to_goal.interval.value < 0.5
    assert c.seconds.interval.value == pytest.approx(4 * c.to_goal.interval.value, rel=1e-6)
    untimed = [timed[0], [*timed[1][:-1], slow[-1]]]
    (c,) = compare.comparisons(study(*untimed))
    assert c.seconds is None


def test_a_run_that_never_arrives_counts_with_all_its_seconds():
    grid = np.arange(1, 11) * 100.0
    there, never = np.tile(np.linspace(0, 1, 10), (5, 1)), np.zeros((5, 10))
    clocks = 2 * np.tile(grid, (5, 1)), 3 * np.tile(grid, (5, 1))
    both = zip((there, never), clocks, strict=True)
    ratio = eff.ratio(*([eff.arrivals(side, clock, 1.0)] for side, clock in both))
    assert ratio.censored == (0, 5)
    assert ratio.interval.value == pytest.approx(2000 / 3000)


NOWHERE = Reference(None, "", None, "")


def reasons(returns, known=NOWHERE, firsts=None):
    returns = np.array(returns, float)
    return failures.reasons(returns, returns if firsts is None else np.array(firsts), known)


def test_one_seed_far_below_the_others_failed():
    assert reasons([-67, -72, -119]) == ["", "", "the others are at -72 to -67"]


def test_seeds_that_merely_differ_did_not_fail():
    assert not any(reasons([600, 1500, 1800, 2700, 3000]))
    assert not any(reasons([3552, 3554, 3549, 3300]))


def test_what_is_hardly_better_than_random_failed_also_where_all_did():
    known = Reference(20.0, "", 3500.0, "")
    assert reasons([25, 30, 100], known) == ["hardly better than random play, 20"] * 3
    assert not any(reasons([900, 1000], known))
    alone = Reference(20.0, "", None, "")  # the expert's return is not known
    assert reasons([15, 100], alone) == ["no better than random play, 20", ""]


def test_a_run_that_lost_what_it_began_with_failed():
    """As one that left its clone; one that lost 1 % did not."""
    known = Reference(20.0, "", 3500.0, "")
    made = reasons([1700, 3520], known, firsts=[3533, 3560])
    assert made == ["it began at 3,533", ""]


def test_failed_runs_are_named_at_the_top():
    runs = arm("csil", 0.8)
    fallen = dataclasses.replace(runs[2], returns=0 * runs[2].returns, normal=0 * runs[2].normal)
    made = study([*runs[:2], fallen, *runs[3:]])
    (warning,) = headline.warnings(made, failures.failed(made))
    said = "1 of 6 runs of csil on Hopper-v5 failed: seed 2 ended at 0 (the others are at"
    assert warning.startswith(said)


@pytest.mark.parametrize("kind", ["normal", "bimodal"])
def test_differences_of_interquartile_means_cover(kind):
    """95 % intervals of five pairs hold the truth in 90 to 99 % of 300 studies."""
    rng, covered = np.random.default_rng(0), 0
    for number in range(300):
        noise = rng.normal(size=(5, 2))
        if kind == "bimodal":
            noise = rng.choice([-1.0, 1.0], (5, 2)) + 0.2 * noise
        luck = rng.normal(size=(5, 1))
        x, y = (luck + 0.3 + 0.3 * noise[:, :1]), (luck + 0.3 * noise[:, 1:])
        made = aggregate.bootstrap(
            aggregate.iqm_difference, x, y, paired=True, seed=number, resamples=400
        )
        covered += made.low <= 0.3 <= made.high
    assert 0.90 <= covered / 300 <= 0.99, covered / 300
