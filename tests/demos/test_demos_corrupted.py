"""Demonstrations spoilt in each way that people spoil them: `demos check` must not say "fits"."""

import functools
import re

import gymnasium as gym
import numpy as np
import pytest
import toys
from gymnasium.spaces import Box

from soar_il.commands import demos as commands
from soar_il.demos import Demos, places
from soar_il.demos.check import check, examine
from soar_il.experts import record, shipped


class Reach(gym.Env):
    """A mass that is pushed to a goal; both start anywhere in a square."""

    observation_space = Box(-np.inf, np.inf, (6,))
    action_space = Box(-1, 1, (2,))
    limit = 40

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps, self.velocity = 0, np.zeros(2)
        self.position, self.goal = self.np_random.uniform(-1, 1, (2, 2))
        return self._seen(), {}

    def _seen(self):
        return np.concatenate([self.position, self.velocity, self.goal]).astype(np.float32)

    def step(self, action):
        self.steps += 1
        self.velocity = 0.9 * self.velocity + 0.1 * np.clip(action, -1, 1)
        self.position = self.position + 0.1 * self.velocity
        apart = float(np.linalg.norm(self.position - self.goal))
        return self._seen(), -apart, apart < 0.05, self.steps >= self.limit, {}


@functools.cache
def reaching(episodes=10):
    """A controller with some noise, as a person steers."""
    env, rng = Reach(), np.random.default_rng(0)
    states, taken, ended = [], [], []
    for episode in range(episodes):
        s, a, over = [env.reset(seed=100 + episode)[0]], [], False
        while not over:
            push = 2 * (s[-1][4:] - s[-1][:2]) - 1.5 * s[-1][2:4] + 0.05 * rng.normal(size=2)
            a.append(np.clip(push, -1, 1).astype(np.float32))
            following, _, terminated, truncated, _ = env.step(a[-1])
            s.append(following)
            over = terminated or truncated
        states.append(np.stack(s))
        taken.append(np.stack(a))
        ended.append(terminated)
    return Demos.from_arrays(states, taken, terminated=np.array(ended))


@functools.cache
def hopping():
    return Demos.load(places.known("Hopper-v5")).select(8)


SETS = {"Hopper": (hopping, "Hopper-v5"), "reach": (reaching, Reach)}


def changed(demos, states=lambda x: x, actions=lambda x: x):
    return Demos(
        tuple(states(x) for x in demos.observations),
        None if demos.actions is None else tuple(actions(x) for x in demos.actions),
        demos.terminated,
    )


def some(times, *coordinates):
    def scale(states):
        factors = np.ones(states.shape[1])
        factors[list(coordinates)] = times
        return states * factors

    return scale


def permuted(states):
    return states[:, np.random.default_rng(0).permutation(states.shape[1])]


def exchanged(states):
    order = np.arange(states.shape[1])
    order[[0, 1]] = 1, 0
    return states[:, order]


def normalised(demos):
    everything = np.concatenate(demos.observations)
    mean, spread = everything.mean(axis=0), everything.std(axis=0) + 1e-6
    return changed(demos, lambda s: (s - mean) / spread)


def late(demos):
    return Demos(
        tuple(s[1:] for s in demos.observations),
        tuple(a[:-1] for a in demos.actions),
        demos.terminated,
    )


def early(demos):
    return Demos(
        tuple(s[:-1] for s in demos.observations),
        tuple(a[1:] for a in demos.actions),
        demos.terminated,
    )


SPOILT = {
    "degrees": (lambda d: changed(d, lambda s: s * 57.3), "scale", "degrees in place of radians"),
    "angles in degrees": (
        lambda d: changed(d, some(57.3, 1, 4, 5)),
        "scale",
        r"observations\[1, 4, 5\]: numbers are about [4-7]\d",
    ),
    "thousandths": (lambda d: changed(d, lambda s: s * 1e-3), "scale", "about 0.00"),
    "normalised": (normalised, "start states", "outside of what reset"),
    "two coordinates exchanged": (
        lambda d: changed(d, exchanged),
        "order of coordinates",
        "coordinates 0, 1 look exchanged: as 1, 0",
    ),
    "another order": (lambda d: changed(d, permuted), "start states", "outside of what reset"),
    "another order, by its movement": (
        lambda d: changed(d, permuted),
        "direction of time",
        "do not follow from each other",
    ),
    "time reversed": (
        lambda d: changed(d, lambda s: s[::-1], lambda a: a[::-1]),
        "direction of time",
        "time looks reversed",
    ),
    "time of states alone reversed": (
        lambda d: changed(d.without_actions(), lambda s: s[::-1]),
        "direction of time",
        "time looks reversed",
    ),
    "time shuffled": (
        lambda d: changed(d, np.random.default_rng(1).permutation),
        "direction of time",
        "do not follow from each other",
    ),
    "actions late": (late, "actions beside their states", "shifted by one"),
    "actions early": (early, "actions beside their states", "one step ahead"),
}


@pytest.mark.parametrize("of", SETS)
@pytest.mark.parametrize("way", SPOILT)
def test_spoilt_demonstrations_do_not_fit(of, way):
    make, env = SETS[of]
    spoil, name, message = SPOILT[way]
    found = {made.name: made.found for made in examine(spoil(make()), env)}
    assert [n for n in found[name] if re.search(message, str(n))], found


@pytest.mark.parametrize("of", SETS)
@pytest.mark.parametrize("use", ["all", "one", "states", "subsampled"])
def test_right_demonstrations_raise_no_notice(of, use):
    make, env = SETS[of]
    demos = make()
    demos = {
        "all": lambda: demos,
        "one": lambda: demos.select(1),
        "states": demos.without_actions,
        "subsampled": lambda: demos.subsample(5, seed=0),
    }[use]()
    checks = examine(demos, env)
    assert [n for made in checks for n in made.found] == []
    if use == "all" and of == "Hopper":
        assert [made.lacking for made in checks] == [""] * 9


def test_right_demonstrations_of_a_run_far_from_random_steps_raise_none():
    """A cheetah at full speed moves as random actions never do."""
    policy, _ = shipped.expert("HalfCheetah-v5")
    assert check(record.record(policy, 3).demos, "HalfCheetah-v5") == []


def test_another_version_of_the_simulator_is_said():
    demos = hopping()
    about = demos.about | {"versions": demos.about["versions"] | {"mujoco": "2.9.0"}}
    other = Demos(demos.observations, demos.actions, demos.terminated, about)
    (notice,) = check(other, "Hopper-v5")
    assert "recorded with MuJoCo 2.9.0, here is" in str(notice)
    assert "record them again" in str(notice)
    elsewhere = Demos(
        *[getattr(reaching(), x) for x in ("observations", "actions", "terminated")], about
    )
    assert "the simulator's version" not in [made.name for made in examine(elsewhere, Reach)]


def test_each_check_says_what_it_lacks():
    def lacking(demos, env=Reach):
        return {made.name: made.lacking for made in examine(demos, env)}

    two = reaching().select(2)
    assert lacking(two)["scale"] == ""  # its actions tell
    assert lacking(two.without_actions())["scale"] == "not enough data: needs 3 episodes"
    assert lacking(two.without_actions())["actions beside their states"] == "there are no actions"
    short = Demos(
        tuple(s[:5] for s in two.observations), tuple(a[:4] for a in two.actions), [False] * 2
    )
    for name in ("direction of time", "order of coordinates"):
        assert lacking(short)[name] == "not enough data: needs 5 episodes"
    assert "not enough data: needs 130 episodes" in lacking(short)["actions beside their states"]
    points = toys.demos_of(toys.PointMass, 10, seed=0)
    without = lacking(points.without_actions(), toys.PointMass)
    assert without["direction of time"] == "no simple rule shows in random steps of PointMass"
    assert lacking(points, toys.PointMass)["direction of time"] == ""
    pieces = lacking(reaching().subsample(5, seed=0))
    assert pieces["start states"] == "the pieces are subsampled"
    assert pieces["ends of episodes"] == "Reach has no time limit"


def test_the_scale_shows_in_what_actions_do_where_every_reset_is_the_same():
    class Origin(toys.PointMass):
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.position = np.zeros(2)
            return self.position.astype(np.float32), {}

    rng = np.random.default_rng(0)
    taken = rng.uniform(-1, 1, (4, 20, 2))
    states = np.concatenate([np.zeros((4, 1, 2)), 0.1 * taken.cumsum(axis=1)], axis=1)
    ended = np.zeros(4, bool)
    good = Demos.from_arrays(states[:, :, :], taken, terminated=ended)
    found = {made.name: made for made in examine(good, Origin)}
    assert (found["scale"].found, found["scale"].lacking) == ((), "")
    found = {made.name: made for made in examine(changed(good, lambda s: 57.3 * s), Origin)}
    assert "Multiply by 0.0175" in str(found["scale"].found[0])


def test_the_command_says_which_checks_were_made(tmp_path, capsys):
    path = hopping().save(tmp_path / "x.demos")
    commands.check(path, "Hopper-v5")
    out = capsys.readouterr().out
    assert "fits Hopper-v5 by 9 of 9 checks" in out
    assert "checked: sizes and bounds, repeats and padding, ends of episodes, start states" in out
    one = hopping().select(1).without_actions().save(tmp_path / "y.demos")
    commands.check(one, "Hopper-v5")
    out = capsys.readouterr().out
    assert "not checked: scale: not enough data: needs 3 episodes" in out
    assert "fits Hopper-v5 by 7 of 9 checks" in out
