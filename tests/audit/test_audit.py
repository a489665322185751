"""Controls tell the learner nothing of the task, and `soar audit` shows what they reach."""

import json
import sys

import numpy as np
import pytest
import tiny
import toys

from soar_il import cli
from soar_il.audit import controls as audit_controls
from soar_il.audit import run
from soar_il.build import method_of
from soar_il.configure import resolve
from soar_il.types import Batch


@pytest.fixture(scope="module")
def made():
    cfg = resolve("ml-irl-sa", "Point-v0", horizon=toys.HORIZON)
    return audit_controls.controls(tiny.demos(), toys.PointMass, cfg)


def test_shuffled_demonstrations_keep_each_coordinate_and_nothing_else(made):
    real, mixed = made["demonstrations"].demos, made["shuffled"].demos
    for name in ("observations", "actions"):
        before, after = (np.concatenate(getattr(demos, name)) for demos in (real, mixed))
        np.testing.assert_array_equal(np.sort(before, axis=0), np.sort(after, axis=0))
        assert not np.array_equal(before, after)
    states = np.concatenate(real.observations), np.concatenate(mixed.observations)
    together = [np.abs(np.corrcoef(x.T)[0, 1]) for x in states]
    assert together[1] < 0.3 < together[0]  # what the coordinates say of each other is gone
    np.testing.assert_array_equal(real.lengths, mixed.lengths)


def test_a_random_and_a_still_expert_do_not_act_as_the_demonstrator(made):
    still, random = (
        np.concatenate(made[n].demos.actions) for n in ("still-expert", "random-expert")
    )
    assert np.unique(still, axis=0).shape[0] == 1
    assert random.std(axis=0).min() > 0.3 * (random.max() - random.min()) / np.sqrt(12)


@pytest.mark.parametrize("name", ["no-cost", "ending-alone"])
def test_without_demonstrations_nothing_of_the_engine_looks_at_them(made, name):
    cfg = audit_controls.settings(resolve("ml-irl", "Point-v0"), made[name])
    assert (cfg.learner.trial_every, cfg.learner.expert_share) == (0, 0.0)
    assert audit_controls.settings(resolve("ml-irl", "Point-v0"), made["shuffled"]) == resolve(
        "ml-irl", "Point-v0"
    )


@pytest.mark.parametrize("name", tiny.EVERY_BASE)
def test_every_method_has_its_controls_whatever_it_needs(made, name):
    """SQIL needs the expert's rows and HyPE's schedule moves them; controls have none."""
    schedule = {"expert_share": 0.5, "expert_share_last": 0.1, "expert_share_steps": 100}
    for learner in ({}, schedule):
        cfg = resolve(name, "Point-v0", critics=1, learner=learner)
        for control in made.values():
            own = audit_controls.settings(cfg, control)
            method = method_of(own, toys.HORIZON, control.base)
            assert control.base is None or not own.learner.share_moves
            assert control.base is None or method is control.base


def test_the_best_control_is_the_part_of_a_score_that_proves_nothing():
    rows = [("demonstrations", 90.0), ("shuffled", 20.0), ("ending-alone", 60.0)]
    made = run.Audit(tuple(run.Row(n, n, value, 0.0, 10) for n, value in rows), 10.0, 110.0)
    assert made.best().name == "ending-alone"
    assert [made.share(row) for row in made.rows] == [0.8, 0.1, 0.5]


def test_the_cost_that_knows_the_end_alone_is_minus_one_until_then():
    alive = np.array([[0.3, 0.0], [10.0, 10.0]], np.float32)
    batch = _batch(alive)
    np.testing.assert_array_equal(audit_controls.ENDING.cost((), batch), [-1.0, 0.0])
    np.testing.assert_array_equal(audit_controls.STEPS.cost((), batch), [-1.0, -1.0])


def _batch(states):
    one = np.ones(len(states), np.float32)
    return Batch(states, states[:, :1], states, one, one, one == 0, np.int32(one))


def test_the_command_trains_each_control_once(monkeypatch, capsys, tmp_path):
    tiny.register()
    tiny.demos().save(tmp_path / "point.demos")
    words = ["--demos", str(tmp_path / "point.demos"), "--env", "Point-v0", "--steps", "120"]
    words += ["--episodes", "2", "--critics", "1", "--out", str(tmp_path / "out")]
    command = ["soar", "audit", *words, "--set", *tiny.SETTINGS]
    monkeypatch.setattr(sys, "argv", command)
    cli.main()
    printed = capsys.readouterr().out
    assert "every cost is 0" in printed
    assert "is reached without the expert" in printed
    said = json.loads((tmp_path / "out" / "audit.json").read_text())
    names = ["demonstrations", "shuffled", "random-expert", "still-expert", "no-cost"]
    assert [row["name"] for row in said["rows"]] == [*names, "ending-alone"]
    assert all(row["steps"] >= 120 for row in said["rows"])
    log = tmp_path / "out" / "shuffled" / "metrics.jsonl"
    before = log.read_text()
    cli.main()  # nothing is trained again
    assert log.read_text() == before
    assert json.loads((tmp_path / "out" / "audit.json").read_text()) == said
