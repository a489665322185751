"""From folders to what a report is made of: nothing is dropped, and names are read from options."""

import fake_sweep as fake

from soar_il.report import reader


def test_a_cost_gap_of_exactly_nothing_counts(tmp_path):
    fake.run(tmp_path / "one", fake.rising(100.0), seen={"cost_gap": 0.0})
    (one,) = reader.read([tmp_path]).results
    assert one.seen["cost_gap"].end == 0.0


def test_a_run_that_took_no_steps_has_its_first_policy(tmp_path):
    """As one that was cloned and no more: a score, and no iteration."""
    place = tmp_path / "one"
    fake.run(place, [(0, 100.0)])
    (place / "metrics.jsonl").unlink()
    (place / "scores.jsonl").unlink()
    with fake.log.Log(place / "scores.jsonl") as file:
        file.append({"k": 0, "steps": 0, "return": 7.0, "return_std": 0, "stochastic_return": 6.0})
    (one,) = reader.read([tmp_path]).results
    assert one.returns.tolist() == [7.0]


def test_a_missing_run_is_called_by_what_its_settings_came_to(tmp_path):
    """Critics that the preset chose are no less those of a run that was never begun."""
    options = {"env": "Own-v0", "base": "ml-irl", "seed": 0}
    settings = {"env": "Own-v0", "base": "ml-irl", "seed": 0, "learner": {"critics": 4}}
    jobs = [("Own-v0/ml-irl-seed0", options, None, {"settings": settings})]
    (gone,) = reader.read([fake.sweep(tmp_path / "s", jobs)]).missing
    assert gone.label == "ml-irl + SOAR, L = 4"
