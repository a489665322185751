"""Demonstrations against an environment, stepped here: aligned, shifted, reversed, shuffled."""

import functools

import gymnasium
import numpy as np
import pytest

from soar_il.demos import Demos, align, convert
from soar_il.demos.alone import notices
from soar_il.demos.check import check
from soar_il.errors import DemoError, DemoWarning


def controller(size, actions, seed=1):
    """A small random network: near deterministic, as an expert is."""
    rng = np.random.default_rng(seed)
    inner = rng.normal(size=(32, size)) / np.sqrt(size)
    outer = rng.normal(size=(actions, 32)) / 3
    return lambda o, rng: np.tanh(outer @ np.tanh(inner @ o)) + 0.1 * rng.normal(size=actions)


@functools.cache
def stepped(env_id, policy, episodes, steps=200):
    """Aligned trajectories of an environment."""
    env = gymnasium.make(env_id)
    low, high = env.action_space.low, env.action_space.high
    net = controller(env.observation_space.shape[0], len(low))
    rng = np.random.default_rng(0)
    act = {
        "random": lambda o, t: rng.uniform(low, high),
        "net": lambda o, t: net(o, rng),
        "sine": lambda o, t: np.sin(0.2 * t + np.arange(len(low))),
        "linear": lambda o, t: 0.3 * o[: len(low)],
    }[policy]
    states, taken, ended = [], [], []
    for episode in range(episodes):
        o, _ = env.reset(seed=episode)
        s, a = [o], []
        for t in range(steps):
            a.append(np.clip(act(o, t), low, high).astype(np.float32))
            o, _, terminated, truncated, _ = env.step(a[-1])
            s.append(o)
            if terminated or truncated:
                break
        states.append(np.array(s, np.float32))
        taken.append(np.array(a, np.float32))
        ended.append(terminated)
    env.close()
    return states, taken, np.array(ended)


SETS = [
    ("Pendulum-v1", "random", 4),
    ("Pendulum-v1", "net", 4),
    ("Hopper-v5", "random", 40),
    ("Hopper-v5", "net", 20),
    ("Reacher-v5", "random", 20),
    ("MountainCarContinuous-v0", "random", 3),
]
HARD = [
    ("Pendulum-v1", "sine", 4),
    ("Pendulum-v1", "linear", 4),
    ("Hopper-v5", "sine", 30),
    ("Hopper-v5", "linear", 30),
    ("MountainCarContinuous-v0", "sine", 3),
]


@pytest.mark.parametrize("given", SETS, ids=str)
def test_shifted_actions_are_seen(given):
    s, a, _ = stepped(*given)
    assert align.shift(Demos.from_arrays([x[1:] for x in s], [x[:-1] for x in a])) == 1
    assert align.shift(Demos.from_arrays([x[:-1] for x in s], [x[1:] for x in a])) == -1


@pytest.mark.parametrize("given", SETS + HARD, ids=str)
def test_aligned_actions_are_not_suspected(given):
    s, a, ended = stepped(*given)
    demos = Demos.from_arrays(s, a, terminated=ended)
    assert align.shift(demos) == 0
    assert notices(demos) == []
    assert all("neither terminated" in n.what for n in check(demos, given[0]))


def test_a_declared_shift_passes_and_an_undeclared_one_warns(tmp_path):
    s, a, _ = stepped("Pendulum-v1", "net", 4)
    late, actions = np.stack(s)[:, 1:], np.stack(a)
    with pytest.warns(DemoWarning) as caught:
        convert.from_tensors(late, actions, shift=0)
    assert any("actions look shifted by one: states s_1" in str(w.message) for w in caught)
    assert notices(convert.from_tensors(late, actions, shift=1)) == []
    np.savez(tmp_path / "x.npz", states=late, actions=actions)
    with pytest.warns(DemoWarning) as caught:
        wrong = Demos.load(tmp_path / "x.npz")
    assert any("shift=1" in str(w.message) for w in caught)
    with pytest.raises(DemoError, match="shifted by one"):
        check(wrong, "Pendulum-v1", strict=True)


def test_an_observation_that_records_the_action_gives_the_shift_away():
    s, a, ended = stepped("Humanoid-v5", "net", 12)
    assert check(Demos.from_arrays(s, a, terminated=ended), "Humanoid-v5") == []
    late = Demos.from_arrays([x[1:] for x in s], [x[:-1] for x in a], terminated=ended)
    assert any("shifted by one" in str(n) for n in check(late, "Humanoid-v5"))


def test_too_few_steps_are_not_judged():
    s, a, _ = stepped("Pendulum-v1", "random", 4)
    assert align.shift(Demos.from_arrays([s[0][:20]], [a[0][:19]])) is None
    assert align.shift(Demos.from_arrays(s)) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda x: x[::-1], "time looks reversed"),
        (lambda x: np.random.default_rng(0).permutation(x), "states do not follow"),
    ],
)
def test_time_that_does_not_run_is_seen(change, said):
    s, a, ended = stepped("Hopper-v5", "net", 20)
    wrong = Demos.from_arrays(
        [change(x) for x in s], [np.flip(x, axis=0) for x in a], terminated=ended
    )
    assert any(said in n.what for n in check(wrong, "Hopper-v5"))


def test_ends_are_held_against_the_time_limit():
    s, a, ended = stepped("Hopper-v5", "net", 5)
    assert check(Demos.from_arrays(s, a, terminated=ended), "Hopper-v5") == []
    (notice,) = check(Demos.from_arrays(s, a), "Hopper-v5")
    assert "5 of 5 neither terminated nor reached 1000 steps" in str(notice)
    pieces = Demos.from_arrays(s, a).subsample(5, seed=0)
    assert check(pieces, "Hopper-v5") == []
