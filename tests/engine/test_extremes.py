"""Environments that are extreme and legal: what is learned stays finite and within its bounds."""

import gymnasium as gym
import jax
import numpy as np
import pytest
import tiny
import toys
from gymnasium.spaces import Box


class Scaled(gym.ObservationWrapper):
    """The point mass in other units."""

    def __init__(self, scale):
        super().__init__(toys.PointMass())
        self.scale = scale

    def observation(self, observation):
        return (self.scale * observation).astype(np.float32)


class Wide(gym.ObservationWrapper):
    """The point mass behind a thousand coordinates, most of which never move."""

    observation_space = Box(-np.inf, np.inf, (1000,))

    def __init__(self):
        super().__init__(toys.PointMass())

    def observation(self, observation):
        return np.resize(observation, 1000) * (np.arange(1000) < 10)


CASES = {
    "units of 1e8": {"env": lambda: Scaled(1e8)},
    "units of 1e-8": {"env": lambda: Scaled(1e-8)},
    "a thousand coordinates": {"env": Wide},
    "episodes of one step": {"horizon": 1, "learner": {"iteration_steps": 20, "random_steps": 20}},
    "one demonstration": {"n": 1},
}


@pytest.mark.filterwarnings("ignore::soar_il.errors.DemoWarning")
@pytest.mark.parametrize("name", CASES)
def test_what_is_learned_is_finite_and_within_bounds(name):
    case = dict(CASES[name])
    env, horizon = case.pop("env", toys.PointMass), case.pop("horizon", toys.HORIZON)
    demos = toys.demos_of(env, case.pop("n", 4), seed=0, gain=5.0 if horizon > 1 else 0.5)
    with tiny.imitator(env, demos=demos, critics=2, horizon=horizon, **case) as imitator:
        imitator.learn(200)
        state = jax.device_get(imitator._run.state)
        leaves = jax.tree.leaves((state.policy, state.cost, state.critics))
        assert all(np.isfinite(x).all() for x in leaves)
        seen, _ = env().reset(seed=1)
        action, _ = imitator.predict(seen)
        assert toys.PointMass.action_space.contains(action)
