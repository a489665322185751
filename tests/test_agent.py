"""The Imitator and the commands as a user meets them, mistakes included."""

import errno
import json
import logging
import sys

import gymnasium as gym
import jax
import numpy as np
import pytest
import tiny
import toys

from soar_il import Demos, Imitator, cli
from soar_il.errors import SoarError
from soar_il.runs import checkpoint, log


def test_it_learns_the_point_mass():
    """Better than standing still, from states alone."""
    with tiny.imitator(
        critics=2,
        demos=tiny.demos(8),
        learner={"hidden": [32, 32], "batch": 64, "alpha": 0.1},
        base="ml-irl",
    ) as imitator:
        imitator.learn(7000)
        ends = []
        for seed in range(100, 105):
            env = toys.PointMass()
            state, _ = env.reset(seed=seed)
            for _ in range(toys.HORIZON):
                state = env.step(imitator.predict(state)[0])[0]
            ends.append(np.linalg.norm(state))
        assert np.mean(ends) < 0.3  # it starts at 0.77 on average


def test_predict_speaks_the_environment_s_language():
    with tiny.imitator() as imitator:
        imitator.learn(60)
        low, high = toys.PointMass.action_space.low, toys.PointMass.action_space.high
        one, state = imitator.predict(np.zeros(2))
        assert state is None
        assert one.shape == (2,)
        many, _ = imitator.predict(np.random.default_rng(0).normal(size=(50, 2)) * 5)
        assert many.shape == (50, 2)
        assert (many >= low).all()
        assert (many <= high).all()
        imitator.set_random_seed(0)
        noisy = [imitator.predict(np.zeros(2), deterministic=False)[0] for _ in range(3)]
        assert not np.array_equal(noisy[0], noisy[1])
        imitator.set_random_seed(0)
        again = imitator.predict(np.zeros(2), deterministic=False)[0]
        np.testing.assert_array_equal(noisy[0], again)
        with pytest.raises(SoarError, match=r"shape \(3,\).*\n.*give \[2\]"):
            imitator.predict(np.zeros(3))


def test_a_callback_sees_each_iteration_and_can_stop():
    seen = []

    def callback(imitator, numbers):
        seen.append((imitator.num_timesteps, numbers["steps"], numbers["cost_gap"]))
        return len(seen) < 3

    with tiny.imitator() as imitator:
        imitator.learn(10_000, callback=callback)
    assert len(seen) == 3
    assert [a for a, _, _ in seen] == [b for _, b, _ in seen]


def test_learning_goes_on_where_it_stopped():
    with tiny.imitator() as once, tiny.imitator() as twice:
        once.learn(200)
        while twice.num_timesteps < once.num_timesteps:
            twice.learn(1)
        assert once.fingerprint() == twice.fingerprint()


def test_every_environment_step_is_counted():
    counted = []

    class Counting(toys.PointMass):
        def step(self, action):
            counted.append(1)
            return super().step(action)

    with tiny.imitator(Counting) as imitator:
        imitator.learn(300)
        assert imitator.num_timesteps == len(counted)


@pytest.mark.parametrize("termination", ["absorbing", "fixed", "early"])
def test_every_termination_mode_trains(termination):
    with tiny.imitator(termination=termination) as imitator:
        assert np.isfinite(imitator.learn(200).predict(np.zeros(2))[0]).all()


def test_coordinates_that_are_not_observed_reach_nothing():
    class Noisy(toys.PointMass):
        observation_space = gym.spaces.Box(-np.inf, np.inf, (3,))

        def reset(self, **given):
            state, info = super().reset(**given)
            return np.append(state, np.float32(1e6)), info

        def step(self, action):
            state, *rest = super().step(action)
            return np.append(state, np.float32(-1e6 * self.steps)), *rest

    plain = tiny.demos()
    noisy = [np.c_[s, 1e6 * np.arange(len(s), dtype=np.float32)] for s in plain.observations]
    demos = Demos(tuple(noisy), plain.actions, plain.terminated)
    with tiny.imitator() as once, tiny.imitator(Noisy, demos=demos, observed=2) as other:
        assert once.learn(200).fingerprint() == other.learn(200).fingerprint()
        states = np.float32([[0.3, -0.2, 0], [0.3, -0.2, 1e6]])
        actions = other.predict(states)[0]
    np.testing.assert_array_equal(actions[0], actions[1])


def test_nothing_is_compiled_after_the_second_iteration(caplog):
    with tiny.imitator(critics=3) as imitator:
        imitator.learn(1).learn(1)
        with jax.log_compiles(), caplog.at_level(logging.WARNING):
            imitator.learn(600)
        assert not [r.message for r in caplog.records if "ompil" in r.message]


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    prints = []
    for seed in (0, 0, 1):
        with tiny.imitator(seed=seed) as imitator:
            prints.append(imitator.learn(150).fingerprint())
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize("critics", [4, 7])
@pytest.mark.parametrize("base", ["csil", "ml-irl"])
def test_no_critic_of_the_first_iteration_is_without_an_episode(base, critics):
    """However short an iteration is: else it would learn from a row that nothing was written to."""
    short = {"split": "trajectories", "iteration_steps": 1, "random_steps": 1}
    with tiny.imitator(base=base, critics=critics, learner=short) as imitator:
        state, parts = imitator._run.state, imitator._run.parts
        data = parts.add(state.data, parts.collect(state.policy, jax.random.key(0)))
        assert data.alive.shape == (1 + critics,)
        assert (np.asarray(data.alive) > 0).all()


def wrong(**changes):
    return lambda: tiny.imitator(**changes)


def arrays(states, actions=None):
    return lambda: Demos.from_arrays(states, actions)


RNG = np.random.default_rng(0)
STATES = [RNG.normal(size=(5, 2)) for _ in range(2)]
NAN = [np.where(np.arange(10).reshape(5, 2) == 5, np.nan, s) for s in STATES]
BAD = {
    "unknown base": (wrong(base="ml-url"), "ml-url.*\n.*ml-irl"),
    "unknown environment": (wrong(env="Hoper-v5"), "Hoper-v5.*\n.*Hopper-v5"),
    "discrete actions": (wrong(env=toys.discrete_actions), "not a Box.*\n.*continuous"),
    "no critics": (wrong(critics=0), "critics is 0.*\n.*at least 1"),
    "negative sigma": (wrong(sigma=-1.0), "sigma is -1.*\n.*at least 0"),
    "nan sigma": (wrong(sigma=float("nan")), "sigma is nan"),
    "discount of one": (wrong(learner={"discount": 1.0}), r"discount is 1.0.*\n.*less than 1"),
    "unknown setting": (wrong(learner={"sigme": 1.0}), "unknown setting 'sigme'.*\n.*'sigma'"),
    "a word for a number": (wrong(learner={"batch": "many"}), "batch: is 'many'.*\n.*int"),
    "unknown mode": (wrong(termination="never"), "termination: is 'never'"),
    "more observed than there is": (wrong(observed=3), "observed is 3.*\n.*2 coordinates"),
    "small capacity": (wrong(learner={"capacity": 10}), "capacity is 10.*\n.*at least"),
    "unknown preset": (wrong(preset="tunned"), "tunned.*\n.*tuned"),
    "state-only demonstrations": (
        wrong(base="ml-irl-sa", demos=tiny.demos().without_actions()),
        "no actions.*\n.*state-only method",
    ),
    "other observations": (
        wrong(env="Pendulum-v1"),
        "observations have 2 coordinates.*3.*\n.*same environment",
    ),
    "empty demonstrations": (arrays([]), "no trajectory|nothing|empty"),
    "ragged demonstrations": (arrays([np.zeros((5, 2)), np.zeros((5, 3))]), "trajectory 1"),
    "nan in a demonstration": (arrays(NAN), "trajectory 0.*step 2|step 2"),
    "lengths that differ": (arrays(STATES, [np.zeros((9, 1))] * 2), "trajectory 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_mistake_gets_one_clear_error_before_any_training(case):
    work, message = BAD[case]
    with pytest.raises(SoarError, match=f"(?s){message}"):
        work()


def command(monkeypatch, *arguments):
    tiny.register()
    monkeypatch.setattr(sys, "argv", ["soar", *map(str, arguments)])
    cli.main()


@pytest.fixture
def demos(tmp_path):
    tiny.demos().save(tmp_path / "points.demos")
    return tmp_path / "points.demos"


def test_settings_add_up_however_they_are_given(monkeypatch, tmp_path, demos):
    where = ["--demos", demos, "--env", "Point-v0", "--out", tmp_path / "run", "--steps", 60]
    more = ["--set", "learner.alpha=0.5", "cost.batch=7", "--set", "cost.bound=2"]
    command(monkeypatch, "train", *where, "--set", *tiny.SETTINGS, *more)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["learner"]["hidden"] == list(tiny.LEARNER["hidden"])
    assert config["learner"]["alpha"] == 0.5
    assert (config["cost"]["batch"], config["cost"]["bound"]) == (7, 2)


def test_train_writes_what_it_promises_and_eval_reads_it(monkeypatch, capsys, tmp_path, demos):
    folder = tmp_path / "run"
    short = ["--steps", 300, "--evaluate-every", 100, "--episodes", 3]
    where = ["--demos", demos, "--env", "Point-v0", "--out", folder]
    command(monkeypatch, "train", *where, *short, "--tensorboard", "--set", *tiny.SETTINGS)
    output = capsys.readouterr().out
    assert "L = 4" in output
    assert "cost gap" in output
    assert "policy handed out" in output
    for name in (
        "config.json",
        "provenance.json",
        "log.txt",
        "curve.png",
        "curve.svg",
        "tensorboard",
    ):
        assert (folder / name).exists(), name
    scores, metrics = log.read(folder / "scores.jsonl"), log.read(folder / "metrics.jsonl")
    assert scores[-1]["steps"] == metrics[-1]["steps"] >= 300
    assert [r["k"] for r in metrics] == list(range(1, len(metrics) + 1))
    command(monkeypatch, "eval", folder, "--episodes", 2, "--no-last")
    assert "termination absorbing, 2 episodes" in capsys.readouterr().out
    command(monkeypatch, "eval", folder, "--episodes", 2, "--at", scores[1]["steps"], 0)
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "│" in line]
    assert [row[1] for row in rows] == [str(scores[1]["steps"]), "0"]
    with pytest.raises(SystemExit):
        command(monkeypatch, "eval", folder, "--at", 7)
    assert "no policy was kept at 7 steps" in capsys.readouterr().err
    versions = json.loads((folder / "provenance.json").read_text())["versions"]
    assert {"jax", "gymnasium", "mujoco", "soar-il"} <= set(versions)


def test_a_mistake_on_the_command_line_leaves_no_folder(monkeypatch, capsys, tmp_path, demos):
    folder = tmp_path / "run"
    with pytest.raises(SystemExit) as stopped:
        command(
            monkeypatch,
            "train",
            "--demos",
            demos,
            "--env",
            "Point-v0",
            "--critics",
            0,
            "--out",
            folder,
        )
    assert stopped.value.code == 2
    assert "critics is 0" in capsys.readouterr().err
    assert not folder.exists()


def test_a_full_disk_stops_no_training_and_loses_nothing(monkeypatch, capsys, tmp_path, demos):
    real, calls = checkpoint.save, []

    def full(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise checkpoint.StorageError(
                f"cannot be written ({errno.ENOSPC})", "here", "make room"
            )
        return real(*arguments)

    monkeypatch.setattr(checkpoint, "save", full)
    folder = tmp_path / "run"
    often = ["--steps", 400, "--checkpoint-every", 60, "--evaluate-every", 0]
    where = ["--demos", demos, "--env", "Point-v0", "--out", folder]
    command(monkeypatch, "train", *where, *often, "--set", *tiny.SETTINGS)
    assert "no checkpoint at iteration 2" in capsys.readouterr().out
    newest = checkpoint.newest(folder / "checkpoints", print)
    assert newest.k == len(log.read(folder / "metrics.jsonl"))


def test_a_nan_ends_the_run_and_keeps_the_state_before(tmp_path, monkeypatch):
    with tiny.imitator(folder=tmp_path / "run") as imitator:
        imitator.learn(150)
        k, good, before = imitator._run.k, imitator._run.state.policy, imitator.fingerprint()
        actor = good.policy
        spoilt = good._replace(policy=actor._replace(log_alpha=actor.log_alpha * np.nan))
        imitator._run.state = imitator._run.state._replace(policy=spoilt)
        with pytest.raises(
            SoarError, match=r"no longer finite: critics.layers.0.0, .*policy.log_alpha"
        ):
            imitator.learn(60)
        assert imitator._run.k == k
        imitator._run.state = imitator._run.state._replace(policy=good)
        assert imitator.fingerprint() == before
    with Imitator.load(tmp_path / "run", env=toys.PointMass) as loaded:
        assert loaded._run.k == k
        loaded.learn(60)
