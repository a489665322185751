"""A policy from demonstrations of an environment of your own: no reward is ever looked at."""

import gymnasium as gym
import numpy as np

from soar_il import Demos, Imitator


class Parking(gym.Env):
    """A point on a line; the driver wants it at 0, and we pretend not to know."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,))  # position, speed
    action_space = gym.spaces.Box(-2.0, 2.0, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = np.array([self.np_random.uniform(-1, 1), 0.0])
        return self.state.astype(np.float32), {}

    def step(self, action):
        position, speed = self.state
        speed = 0.9 * speed + 0.1 * float(action[0])
        self.state = np.array([position + 0.1 * speed, speed])
        return self.state.astype(np.float32), float("nan"), False, False, {}


def expert(state):
    return np.clip(-4 * state[:1] - 3 * state[1:], -2, 2)


def drive(policy, seed, steps=60):
    env = Parking()
    states, actions = [env.reset(seed=seed)[0]], []
    for _ in range(steps):
        actions.append(policy(states[-1]))
        states.append(env.step(actions[-1])[0])
    return np.stack(states), np.stack(actions)


states, actions = zip(*(drive(expert, seed) for seed in range(8)), strict=True)
demos = Demos.from_arrays(states, actions)

imitator = Imitator(
    Parking,
    demos,
    base="ml-irl-sa",  # "ml-irl" would do without the actions
    critics=2,
    horizon=60,
    learner={"hidden": [64, 64], "alpha": 0.05},
)
imitator.learn(4_000, callback=lambda self, seen: print(f"gap {seen['cost_gap']:.2f}") or None)


def learned(state):
    return imitator.predict(state)[0]


def far(policy):
    return np.mean([np.abs(drive(policy, seed)[0][30:, 0]).mean() for seed in range(100, 110)])


print(f"distance from 0: expert {far(expert):.3f}, learned {far(learned):.3f}")
imitator.close()
