"""Small environments, demonstrations of them, and environments that are wrong on purpose."""

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from soar_il.demos import Demos

HORIZON = 40


class PointMass(gym.Env):
    """A point pushed about in a plane; far from the origin it is lost, and the episode ends."""

    observation_space = Box(-np.inf, np.inf, (2,))
    action_space = Box(np.array([-1, -2], np.float32), np.array([1, 3], np.float32))
    edge = 2.0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps, self.position = 0, self.np_random.uniform(-1, 1, 2)
        return self.position.astype(np.float32), {}

    def step(self, action):
        self.steps += 1
        self.position = self.position + 0.1 * np.asarray(action, np.float64)
        lost = bool(np.abs(self.position).max() > self.edge)
        reward = -float(np.linalg.norm(self.position))
        return self.position.astype(np.float32), reward, lost, self.steps >= HORIZON, {}


class Diverging(PointMass):
    """Its observations are not numbers from step ``at`` on; 0 is the first."""

    at = 7

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed)
        return self._spoilt(observation), info

    def step(self, action):
        observation, *rest = super().step(action)
        return self._spoilt(observation), *rest

    def _spoilt(self, observation):
        return observation if self.steps < self.at else observation * np.array([1, np.nan])


class Poison(dict):
    """A dictionary that nobody may look into."""

    def _refuse(self, *args, **kwargs):
        raise AssertionError("info was looked at")

    __getitem__ = __iter__ = __contains__ = __len__ = __eq__ = __or__ = __repr__ = _refuse
    get = keys = values = items = pop = copy = update = setdefault = _refuse
    __hash__ = None


REWARDS = {
    "nan": lambda reward, rng: np.nan,
    "noise": lambda reward, rng: rng.normal(),
    "huge": lambda reward, rng: 1e30,
    "negated": lambda reward, rng: -reward,
}


class OtherReward(gym.Wrapper):
    """The same environment with another reward and an untouchable info."""

    def __init__(self, env, kind):
        super().__init__(env)
        self.change, self.rng = REWARDS[kind], np.random.default_rng(0)

    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=seed, options=options)[0], Poison()

    def step(self, action):
        observation, reward, terminated, truncated, _ = self.env.step(action)
        return observation, self.change(reward, self.rng), terminated, truncated, Poison()


class Spaces(gym.Env):
    """Nothing but its spaces."""

    def __init__(self, observation=PointMass.observation_space, action=PointMass.action_space):
        self.observation_space, self.action_space = observation, action


def discrete_actions():
    return Spaces(action=Discrete(3))


def unbounded_actions():
    return Spaces(action=Box(-np.inf, np.inf, (2,)))


def half_bounded_actions():
    return Spaces(action=Box(np.array([-1.0, 0.0]), np.array([1.0, np.inf]), dtype=np.float64))


def stuck_action():
    return Spaces(action=Box(np.float32([-1, 2]), np.float32([1, 2])))


def square_actions():
    return Spaces(action=Box(-1, 1, (2, 2)))


def image_observations():
    return Spaces(observation=Box(0, 1, (4, 4)))


def discrete_observations():
    return Spaces(observation=Discrete(5))


def dict_observations():
    return Spaces(observation=Dict(position=Box(-1, 1, (2,)), velocity=Box(-1, 1, (2,))))


def demos_of(env_factory, n, seed, gain=5.0):
    """What a controller that pushes towards the origin (or away, with a gain below 0) did."""
    env = env_factory()
    states, actions, ends = [], [], []
    for episode in range(n):
        seen, taken = [env.reset(seed=seed + episode)[0]], []
        terminated = truncated = False
        while not (terminated or truncated):
            push = -gain * seen[-1][: env.action_space.shape[0]]
            taken.append(np.clip(push, env.action_space.low, env.action_space.high))
            observation, _, terminated, truncated, _ = env.step(taken[-1])
            seen.append(observation)
        states.append(np.stack(seen))
        actions.append(np.stack(taken))
        ends.append(terminated)
    env.close()
    return Demos.from_arrays(states, actions, terminated=np.array(ends))
