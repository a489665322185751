"""What arms are called, and which are alike: by what was asked for, whatever folders are called."""

import json

import fake_sweep as fake
import pytest

from soar_il.errors import SoarError
from soar_il.report import claims, compare, reader, references, speed
from soar_il.report.results import with_base
from soar_il.report.speed import HEAD


def read(tmp_path, *jobs, **more):
    made = [(f"a/{n}", options, fake.rising(100.0), rest) for n, (options, rest) in enumerate(jobs)]
    return reader.read([fake.sweep(tmp_path / "s", made, **more)])


def options(seed=0, **more):
    return {"env": "Own-v0", "base": "ml-irl", "seed": seed, **more}


def labels(study):
    return {r.label for r in study.results}


def test_folders_names_say_nothing(tmp_path):
    """Named as other methods would be, with another seed: the options decide."""
    made = [
        ("Own-v0/rkl-L9-sigma7-seed8", options(0, critics=1), fake.rising(100.0), {}),
        ("Own-v0/x", options(0, critics=4), fake.rising(100.0), {}),
    ]
    study = reader.read([fake.sweep(tmp_path, made)])
    assert {(r.label, r.seed) for r in study.results} == {
        ("ml-irl", 0),
        ("ml-irl + SOAR, L = 4", 0),
    }


def test_a_setting_that_was_varied_is_in_the_label(tmp_path):
    study = read(
        tmp_path,
        (options(**{"learner.alpha": 0.1}), {"learner": {"alpha": 0.1}}),
        (options(**{"learner.alpha": 0.5}), {"learner": {"alpha": 0.5}}),
        (options(seed=1), {}),  # the preset's, 0.2
    )
    assert labels(study) == {"ml-irl, alpha 0.1", "ml-irl, alpha 0.5", "ml-irl, alpha 0.2"}


def test_what_differs_by_environment_only_is_no_arm(tmp_path):
    study = read(
        tmp_path,
        (options(critics=4, sigma=5.0), {}),
        ({**options(critics=4, sigma=50.0), "env": "Other-v0"}, {}),
    )
    assert labels(study) == {"ml-irl + SOAR, L = 4"}


def test_how_a_run_is_looked_at_is_no_arm(tmp_path):
    study = read(tmp_path, (options(0, episodes=2), {}), (options(1, episodes=20), {}))
    assert labels(study) == {"ml-irl"}


def test_many_settings_at_once_get_a_letter(tmp_path):
    """As two runs with different presets, found without a sweep."""
    other = {"alpha": 0.7, "batch": 3, "gamma": 1, "tau": 2}
    fake.run(tmp_path / "one", fake.rising(100.0))
    fake.run(tmp_path / "two", fake.rising(100.0), learner=other)
    fake.run(tmp_path / "three", fake.rising(100.0), seed=1)
    study = reader.read([tmp_path])
    by_place = {r.place[-3:]: r.label for r in study.results}
    assert by_place["one"] == by_place["ree"] != by_place["two"]
    assert labels(study) == {"ml-irl, settings A", "ml-irl, settings B"}


def test_numbers_of_demonstrations_are_arms(tmp_path):
    study = read(
        tmp_path,
        (options(demonstrations=1), {"demonstrations": 1}),
        (options(demonstrations=16), {"demonstrations": 16}),
    )
    assert labels(study) == {"ml-irl, 1 demonstration", "ml-irl, 16 demonstrations"}


def test_soar_is_paired_with_the_base_of_the_same_options(tmp_path):
    jobs = []
    for alpha in (0.1, 0.5):
        own = {"learner": {"alpha": alpha}}
        jobs.append((options(critics=1, **{"learner.alpha": alpha}), dict(own)))
        for sigma in (1.0, 5.0):
            asked = options(critics=4, sigma=sigma, **{"learner.alpha": alpha})
            jobs.append((asked, dict(own)))
    pairs = with_base(read(tmp_path, *jobs).results)
    assert {(p.ours[0].label, p.theirs[0].label) for p in pairs} == {
        (f"ml-irl + SOAR, L = 4, alpha {alpha}, sigma {sigma}", f"ml-irl, alpha {alpha}")
        for alpha in (0.1, 0.5)
        for sigma in (1, 5)
    }


def test_the_same_options_with_other_settings_are_refused(tmp_path):
    """As after an update that changed a preset."""
    with pytest.raises(SoarError, match="different settings"):
        read(tmp_path, (options(0), {}), (options(1), {"learner": {"alpha": 0.9}}))


def test_a_missing_run_has_the_label_of_its_arm(tmp_path):
    settings = {"env": "Own-v0", "base": "ml-irl", "seed": 1, "learner": {"critics": 4}}
    made = [
        ("a", options(0, sigma=1.0), fake.rising(100.0), {"critics": 4}),
        ("b", options(0, sigma=5.0), fake.rising(100.0), {"critics": 4}),
        ("c", options(1, sigma=5.0), None, {"settings": settings}),
    ]
    (gone,) = reader.read([fake.sweep(tmp_path, made)]).missing
    assert gone.label == "ml-irl + SOAR, L = 4, sigma 5"


def test_four_arms_tell_optimism_from_an_ensemble_and_from_more_updates(tmp_path):
    """As experiments/optimism.toml asks for them: every two are compared, SOAR has its own row."""
    jobs, names = [], "learner.updates_per_step"
    for seed in range(6):
        for more, own, speed_ in (
            ({"critics": 1}, {}, 3.0),
            ({"critics": 4, "sigma": 0.0}, {}, 4.0),
            ({"critics": 4}, {}, 6.0),
            ({"critics": 1, names: 2.0}, {"learner": {"updates_per_step": 2.0}}, 3.5),
        ):
            learner = {"updates_per_step": 1.0} | own.get("learner", {})
            curve = fake.rising(100 + seed, speed_, points=100)
            jobs.append((f"a/{len(jobs)}", options(seed, **more), curve, {"learner": learner}))
    folder = fake.sweep(tmp_path / "s", jobs)
    random = {"Own-v0": {"return": 0.0, "episodes": 20, "horizon": 0}}
    (folder / references.NAME).write_text(json.dumps(random))
    study = reader.read([folder], {"Own-v0": 100.0})
    soar, without = "ml-irl + SOAR, L = 4", "ml-irl, L = 4, sigma 0"
    one, more = "ml-irl", "ml-irl, updates_per_step 2"
    assert {(c.ours, c.theirs) for c in compare.comparisons(study)} == {
        (soar, without), (soar, one), (soar, more), (without, one), (without, more), (more, one)
    }  # fmt: skip
    beside = speed.table(study)
    assert {row[:2] for row in beside.rows} == {(soar, one), (without, one), (more, one)}
    by_arm = {row[0]: row for row in beside.rows}
    assert by_arm[soar][HEAD.index("never there")] == "0 and 0 of 6"
    assert by_arm[soar][HEAD.index("steps")].startswith("0.5")  # its curves rise twice as fast
    assert by_arm[without][HEAD.index("steps")].startswith("0.7")
    found = {(f.claim, f.about) for f in claims.findings(study)}
    assert {about for claim, about in found if "the bonus" in claim} == {f"{soar}, Own-v0"}
    assert {about for claim, about in found if "outperforms" in claim} == {f"{soar}, Own-v0"}
