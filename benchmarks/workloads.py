"""What is timed, through the names that users have: it runs with any commit of soar-il.

A program that answers each line it is given, the name of a workload, with the seconds it took.
``compare.py`` talks to two of them, one for each commit.
"""

import sys
import tempfile
import time
from pathlib import Path

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box

from soar_il import Demos, Imitator
from soar_il.tabular import mdps
from soar_il.tabular.expert import draw_expert
from soar_il.tabular.run import run
from soar_il.tabular.settings import Settings

STEPS = 200


class Drift(gym.Env):
    """As wide as Hopper and almost free to step, so that what is timed is the learner."""

    observation_space = Box(-10, 10, (11,), np.float32)
    action_space = Box(-1, 1, (3,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.steps = self.np_random.normal(size=11).astype(np.float32), 0
        return self.at, {}

    def step(self, action):
        self.steps += 1
        self.at = np.clip(0.9 * self.at + np.resize(action, 11), -10, 10).astype(np.float32)
        return self.at, 0.0, False, self.steps >= STEPS, {}


def demos():
    rng = np.random.default_rng(0)
    states = [rng.normal(size=(STEPS + 1, 11)) for _ in range(16)]
    return Demos.from_arrays(states, [rng.uniform(-1, 1, (STEPS, 3)) for _ in range(16)])


def learning(critics):
    """An iteration of so many steps and as many updates, all in."""
    learner = {"iteration_steps": STEPS, "random_steps": STEPS, "capacity": 20_000}
    it = Imitator(Drift, demos(), critics=critics, horizon=STEPS, learner=learner)
    it.learn(2 * STEPS)  # compiled, and past the uniform policy
    return lambda: it.learn(1)


def acting():
    it = Imitator(Drift, demos(), critics=1, horizon=STEPS, learner={"capacity": 20_000})
    seen = np.zeros((10, 11), np.float32)

    def work():
        for _ in range(50):
            it.predict(seen)

    return work


def storing():
    """The demonstrations written and read, with all their checks."""
    place, made = Path(tempfile.mkdtemp()), demos()

    def work():
        made.save(place / "x.demos", overwrite=True)
        Demos.load(place / "x.demos")

    return work


def tabular():
    mdp, settings = mdps.hard_exploration(), Settings(critics=3)
    experts = [draw_expert(mdp, 100, seed) for seed in range(4)]

    def work():
        for _ in run(mdp, experts, settings, 2000, range(4), 500):
            pass

    return work


WORKLOADS = {
    "an iteration, L = 1": lambda: learning(1),
    "an iteration, L = 4": lambda: learning(4),
    "500 predictions": acting,
    "demonstrations to the disk and back": storing,
    "2,000 tabular iterations": tabular,
}


def main():
    made = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in made:
            made[name] = WORKLOADS[name]()
            made[name]()
        began = time.perf_counter()
        made[name]()
        print(f"seconds {time.perf_counter() - began}", flush=True)


if __name__ == "__main__":
    main()
