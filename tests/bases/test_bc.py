"""Behavioural cloning: what is fitted, what is held out, and that no step is taken."""

import json

import jax
import numpy as np
import pytest
import tiny
import toys

from soar_il import Demos
from soar_il.agent import Imitator
from soar_il.bases import BASES, bc
from soar_il.bases.given import Given
from soar_il.build import takes_steps
from soar_il.configure import resolve
from soar_il.engine import replay
from soar_il.errors import ConfigError, DemoError
from soar_il.networks import gaussian
from soar_il.report import reader
from soar_il.types import Spec, Treated

SPEC = Spec(3, 2)
GAIN = np.array([[0.5, -0.2, 0.0], [0.1, 0.3, -0.4]], np.float32)


def pairs(n=8, length=60, capacity=1024, seed=0, noise=0.0):
    """Demonstrations of a linear expert, a = tanh(G s)."""
    rng, treated = np.random.default_rng(seed), []
    for _ in range(n):
        states = rng.normal(size=(length + 1, SPEC.observation)).astype(np.float32)
        drive = states[:-1] @ GAIN.T + noise * rng.normal(size=(length, SPEC.action))
        one = np.ones(length, np.float32)
        treated.append(Treated(states, np.tanh(drive).astype(np.float32), one, one, one))
    return replay.add(replay.empty(SPEC, capacity, 0), treated, n * length)


def clone(expert, hidden=(32,), seed=0, **settings):
    s = bc.Settings(**settings)
    return bc.make(s, Given(60, 512, hidden)).init(jax.random.key(seed), SPEC, expert)


def off(layers, batch):
    return -float(np.mean(bc.log_density(layers, batch, -3.0)))


def test_a_linear_expert_s_gain_is_found():
    layers = clone(pairs(), learning_rate=3e-3, steps=6000)
    at = jax.jacobian(lambda s: gaussian.moments(layers, s)[0])(np.zeros(3, np.float32))
    np.testing.assert_allclose(at, GAIN, atol=0.05)


def test_the_last_tenth_is_held_out_and_nothing_else():
    expert = pairs(n=3, length=50)
    found = bc.split(expert, 0.1)
    held = np.asarray(found.batch.observations)[np.asarray(found.held)]
    shown = np.asarray(expert.observations)[:153].reshape(3, 51, 3)[:, :50]  # of each the states
    np.testing.assert_array_equal(held[::-1], shown[2, -15:])
    rest = np.asarray(found.batch.observations)[int(found.first) : int(found.last)]
    np.testing.assert_array_equal(rest[::-1], shown.reshape(-1, 3)[:-15])


def test_pairs_that_are_held_out_are_not_fitted():
    """Other pairs in their place: the same steps are taken."""
    expert, other = pairs(), pairs(seed=1)
    rows = np.asarray(expert.tables[0, : int(expert.alive[0])])[-48:]
    swapped = expert._replace(
        observations=expert.observations.at[rows].set(other.observations[rows]),
        actions=expert.actions.at[rows].set(other.actions[rows]),
    )
    one_look = {"steps": 400, "check_every": 400}
    both = (jax.tree.leaves(clone(data, **one_look)) for data in (expert, swapped))
    for a, b in zip(*both, strict=True):
        np.testing.assert_array_equal(a, b)


def test_it_stops_before_it_knows_the_pairs_by_heart():
    """Noise cannot be learned: more steps fit the pairs better and those held out worse."""
    expert = pairs(n=4, length=50, noise=0.5)
    early = clone(expert, steps=3000, check_every=50, weight_decay=0.0)
    late = clone(expert, steps=3000, check_every=3000, weight_decay=0.0)
    first = clone(expert, steps=1, check_every=1)
    found = bc.split(expert, 0.1)
    held = jax.tree.map(lambda x: x[np.asarray(found.held)], found.batch)
    assert off(early, held) < min(off(late, held), off(first, held)) - 0.1


def test_a_deterministic_expert_s_likelihood_is_bounded():
    layers = clone(pairs(), steps=3000)
    batch = pairs().draw(jax.random.key(0), 200)
    slope = -np.sum(np.log1p(-(np.asarray(batch.actions) ** 2)), axis=-1)
    most = SPEC.action * (3.0 - 0.5 * np.log(2 * np.pi)) + slope
    assert np.all(np.asarray(bc.log_density(layers, batch, -3.0)) <= most + 1e-4)


def test_it_says_that_it_takes_no_steps():
    assert not takes_steps(resolve("bc", "Hopper-v5"))
    assert takes_steps(resolve("csil", "Hopper-v5"))
    assert not BASES["bc"].make(bc.Settings(), Given(40, 128, (16,))).needs.steps


def test_learning_takes_no_step_and_leaves_the_clone(tmp_path):
    with tiny.imitator(base="bc", critics=1, folder=tmp_path / "run") as imitator:
        before = imitator.fingerprint()
        called = []
        imitator.learn(200, callback=lambda *_: called.append(1))
        assert imitator.num_timesteps == 0
        assert imitator.fingerprint() == before
        assert not called
        assert len(list((tmp_path / "run" / "snapshots").iterdir())) == 1
        action = imitator.predict(np.zeros(imitator._run.built.env.observation_size))[0]
        imitator.save(tmp_path / "saved")
    with Imitator.load(tmp_path / "saved", env=toys.PointMass) as again:
        assert again.fingerprint() == before
        np.testing.assert_array_equal(again.predict(np.zeros_like(again._run.built.view.mean))[0],
                                      action)  # fmt: skip


def test_critics_and_demonstrations_without_actions_are_refused():
    with pytest.raises(ConfigError, match="--critics 1"):
        tiny.imitator(base="bc", critics=4)
    shown = tiny.demos()
    with pytest.raises(DemoError, match="actions"):
        tiny.imitator(base="bc", critics=1, demos=Demos(shown.observations, None, shown.terminated))


def soar(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["soar", *map(str, arguments)])
    tiny.main()


def test_the_command_writes_a_run_that_is_scored_resumed_and_evaluated(
    tmp_path, monkeypatch, capsys
):
    tiny.demos().save(tmp_path / "points.demos")
    folder = tmp_path / "run"
    small = ["--set", "learner.hidden=[16]", "cost.steps=200"]
    common = ["--demos", tmp_path / "points.demos", "--env", "Point-v0", "--base", "bc"]
    soar(monkeypatch, "train", *common, "--episodes", 2, "--out", folder, *small)
    assert "takes no environment steps" in capsys.readouterr().out
    assert json.loads((folder / "plan.json").read_text())["steps"] == 0
    assert [p.name for p in (folder / "snapshots").iterdir()] == ["000000000.safetensors"]
    scores = (folder / "scores.jsonl").read_text()
    assert json.loads(scores)["steps"] == 0

    (folder / "scores.jsonl").unlink()  # as after a kill before the evaluation
    soar(monkeypatch, "resume", folder)
    assert (folder / "scores.jsonl").read_text() == scores
    capsys.readouterr()
    soar(monkeypatch, "eval", folder, "--episodes", 2)
    assert "deterministic" in capsys.readouterr().out
    (one,) = reader.read([folder]).results
    assert one.steps.tolist() == [0.0]
