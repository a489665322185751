"""The paper's claims on made-up results whose truth is known."""

import numpy as np
import pytest
import study as made_up
from hypothesis import given
from hypothesis import strategies as st

from soar_il.errors import SoarError
from soar_il.report import claims, verdict
from soar_il.report.results import Study, checked, pair, with_base
from soar_il.statistics.intervals import Interval


def verdicts(study, name):
    return [f.verdict for f in claims.CLAIMS[name](study)]


def test_a_real_gain_is_supported_and_its_opposite_is_not():
    good, bad = made_up.study(), made_up.study(gain=-0.3, speed=2.0)
    assert verdicts(good, "improves") == ["supported"]
    assert verdicts(good, "everywhere") == ["supported", "supported"]
    assert verdicts(bad, "improves") == ["not supported"]
    assert verdicts(made_up.study(gain=0.0, speed=3.0), "improves") == ["undecided"]


def test_the_estimate_is_the_mean_paired_difference():
    study = made_up.study(envs=("Hopper-v5",))
    (found,) = claims.everywhere(study)
    (one,) = with_base(study.results)
    at = np.linspace(5000, 50_000, 41)
    heights = [
        np.mean([np.trapezoid(np.interp(at, r.steps, r.normal), at) / 45_000 for r in side])
        for side in (one.ours, one.theirs)
    ]
    assert found.interval.value == pytest.approx(heights[0] - heights[1])
    assert found.runs == 6


def test_half_the_steps_needs_half_the_steps():
    assert verdicts(made_up.study(gain=0.3, speed=8.0), "half-the-steps") == ["supported"] * 3
    slow = made_up.study(gain=-0.3)
    assert verdicts(slow, "half-the-steps") == ["not supported"] * 3
    whole, one, other = claims.half_the_steps(made_up.study())
    assert whole.about == "ml-irl + SOAR, L = 4, 2 environments"
    geometric = (one.interval.value * other.interval.value) ** 0.5
    assert whole.interval.value == pytest.approx(geometric)


def test_soar_is_measured_against_opt_ail_on_the_same_demonstrations():
    rivals = [made_up.result("Ant-v5", 1, s, 0.4, base="opt-ail-so") for s in range(6)]
    ours = [made_up.result("Ant-v5", c, s, 0.6) for c in (1, 4) for s in range(6)]
    one = [made_up.result("Ant-v5", 1, s, 0.4, base="opt-ail", demonstrations=1) for s in range(6)]
    (found,) = claims.above_opt_ail(Study((*rivals, *ours, *one), ()))
    assert found.about == "ml-irl + SOAR, L = 4 minus opt-ail-so, Ant-v5"
    assert found.verdict == "supported"
    assert not claims.above_opt_ail(Study(tuple(ours), ()))


def test_four_seeds_decide_nothing():
    for finding in claims.findings(made_up.study(seeds=4)):
        assert finding.verdict == "undecided"
        assert "no interval below 5" in finding.note


def test_a_missing_run_is_counted_and_decides_nothing():
    study = made_up.study(missing={("Ant-v5", 4, 3)})
    (found,) = claims.improves(study)
    assert found.verdict == "undecided"
    assert "1 run(s) missing: Ant-v5/ml-irl-L4-seed3" in found.note
    assert "no partner" in found.note
    elsewhere = {f.about: f.verdict for f in claims.everywhere(study)}
    assert elsewhere["ml-irl + SOAR, L = 4, Hopper-v5"] == "supported"
    assert elsewhere["ml-irl + SOAR, L = 4, Ant-v5"] == "undecided"


def test_pairs_have_the_same_seeds():
    study = made_up.study(envs=("Hopper-v5",), missing={("Hopper-v5", 4, 1), ("Hopper-v5", 1, 4)})
    (one,) = with_base(study.results)
    assert [r.seed for r in one.ours] == [r.seed for r in one.theirs] == [0, 2, 3, 5]
    assert one.unpaired == 2
    assert pair(one.ours, one.theirs).unpaired == 0


def test_harder_environments_may_gain_more():
    hard = [made_up.result("Ant-v5", c, s, 0.5 + 0.1 * c) for c in (1, 4) for s in range(6)]
    easy = [made_up.result("Hopper-v5", c, s, 0.9) for c in (1, 4) for s in range(6)]
    assert verdicts(Study((*hard, *easy), ()), "harder-gains-more") == ["supported"]


def test_numbers_of_critics_are_compared():
    levels = {1: 0.4, 2: 0.6, 4: 0.9, 10: 0.7}
    runs = [made_up.result("Ant-v5", c, s, level) for c, level in levels.items() for s in range(6)]
    found = claims.more_critics(Study(tuple(runs), ()))
    assert [f.claim for f in found] == ["more critics are better than one"] * 3 + [
        "4 critics beat 10"
    ]
    assert {f.verdict for f in found} == {"supported"}


def test_large_clips_are_compared_without_choosing():
    assert verdicts(Study(made_up.clips(), ()), "large-clips-hurt") == ["supported"]


def test_several_clip_values_make_no_claim_for_soar():
    bases = tuple(made_up.result("Ant-v5", 1, seed, 0.5) for seed in range(6))
    study = Study(made_up.clips() + bases, ())
    assert not claims.improves(study)
    assert not claims.everywhere(study)


def test_one_demonstration_compares_the_same_method():
    runs = [
        made_up.result("Ant-v5", 4, seed, 0.9, demonstrations=count)
        for count in (1, 16)
        for seed in range(6)
    ]
    (found,) = claims.one_demonstration_is_enough(Study(tuple(runs), ()))
    assert found.verdict == "supported"
    assert abs(found.interval.value) < 0.05


def test_the_exploration_task_is_read():
    found = claims.hard_exploration(Study((), (), studies=(made_up.exploration(),)))
    assert [f.verdict for f in found] == ["supported", "supported"]
    mixture, last = found
    missed = (1 + 0.025 + 1 + 0.875 + 0.75) / 5 - 0.02
    assert (last.about, mixture.about) == (
        "hard-exploration, last policy",
        "hard-exploration, mixture",
    )
    assert last.interval.value == pytest.approx(missed)
    assert mixture.interval.value == pytest.approx(missed / 2)  # made up so


def test_the_same_seed_twice_is_refused():
    study = made_up.study()
    with pytest.raises(SoarError, match="is there twice"):
        checked(study._replace(results=study.results + study.results[:1]))


def test_other_settings_under_the_same_name_are_refused():
    study = made_up.study()
    other = made_up.result("Hopper-v5", 1, 99, 0.6, sigma=5.0)
    with pytest.raises(SoarError, match="different settings"):
        checked(study._replace(results=(*study.results, other)))


def test_seeds_that_chose_may_not_report():
    study = made_up.study(envs=("Ant-v5",))
    apart = study._replace(results=study.results + made_up.clips(purpose="selection", first=100))
    assert len(checked(apart).results) == 12 + 18
    mixed = study._replace(results=study.results + made_up.clips(purpose="selection", first=5))
    with pytest.raises(SoarError, match=r"seed 5 .* both chose a setting and reports it"):
        checked(mixed)


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1))
def test_a_verdict_is_where_the_whole_interval_is(low, high, bar):
    low, high = sorted((low, high))
    said = verdict.above(Interval((low + high) / 2, low, high), bar)
    assert (said == "supported") == (low > bar)
    assert (said == "not supported") == (high <= bar)
    mirrored = verdict.below(Interval(-(low + high) / 2, -high, -low), -bar)
    assert mirrored == said


def test_an_infinite_ratio_is_not_supported_and_a_half_infinite_one_undecided():
    assert verdict.below(Interval(np.inf, np.inf, np.inf), 0.6) == "not supported"
    assert verdict.below(Interval(0.5, 0.4, np.inf), 0.6) == "undecided"
    assert verdict.below(Interval(0.5, np.nan, np.nan), 0.6) == "undecided"
