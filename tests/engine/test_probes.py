"""Problems so small that the right answer is known, each with one thing that can be wrong."""

from typing import NamedTuple

import gymnasium as gym
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Box

from soar_il import soar
from soar_il.bases.api import Base, Needs
from soar_il.build import build
from soar_il.configure import Config
from soar_il.demos import Demos
from soar_il.learners import critics
from soar_il.learners.sac import Settings
from soar_il.networks import gaussian

GAMMA = 0.8


class Problem(NamedTuple):
    """The cost is ``weights`` . (1, s, (a - 1/2)^2, (a - s/2)^2, s is absorbing)."""

    starts: tuple[float, ...]
    steps: int
    weights: tuple[float, ...]
    best: float | None = None  # the best action is this times s, or this at s = 0


PROBLEMS = {
    "a constant": Problem((0.0,), 1, (1, 0, 0, 0, 0)),
    "what is seen": Problem((-1.0, 1.0), 1, (0, 1, 0, 0, 0)),
    "what comes later": Problem((0.0,), 2, (0, 1, 0, 0, 0)),
    "what is done": Problem((0.0,), 1, (0, 0, 1, 0, 0), 0.5),
    "what is done where": Problem((-1.0, 1.0), 1, (0, 0, 0, 1, 0), 0.5),
}
DEATH = Problem((0.0,), 1, (0, 0, 0, 0, 1))


class Probe(gym.Env):
    """One or two steps; the second is at s = 1."""

    observation_space = Box(-1, 1, (1,))
    action_space = Box(-1, 1, (1,))

    def __init__(self, problem):
        self.problem = problem

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = self.problem.steps
        return np.float32([self.np_random.choice(self.problem.starts)]), {}

    def step(self, action):
        self.left -= 1
        return np.ones(1, np.float32), 0.0, self.left == 0, False, {}


def features(s, a, xp=jnp):
    one = xp.ones_like(s[..., 0])
    return xp.stack(
        [one, s[..., 0], (a - 0.5) ** 2, (a - s[..., 0] / 2) ** 2, one * (s[..., -1] > 1)], axis=-1
    )


def cost_of(weights, batch):
    return features(batch.observations, batch.actions[..., 0]) @ weights


KNOWN = Base(
    needs=Needs(),
    init=lambda key, spec, expert: np.zeros(5, np.float32),
    update=lambda cost, expert, data, key: (cost, {}),
    cost=cost_of,
)
DEMOS = Demos.from_arrays([np.zeros((2, 1))], [np.zeros((1, 1))], terminated=[True])


def solved(problem, number, seed, termination="early"):
    learner = Settings(
        critics=number,
        discount=GAMMA,
        alpha=1e-3,
        learning_rate=5e-3,
        target_rate=0.05,
        batch=32,
        hidden=(32,),
        random_steps=512,
        updates_per_step=4,
        capacity=1024,
    )
    cfg = Config(
        "a probe",
        "known",
        seed=seed,
        termination=termination,
        standardise=False,
        horizon=2,
        learner=learner,
    )
    built = build(cfg, lambda: Probe(problem), DEMOS, KNOWN)
    state = built.start()._replace(cost=np.float32(problem.weights))
    return soar.iteration(built.parts, state, seed)[0]


def truth(problem, s, a):
    later = GAMMA * (s[:, 0] == 0) if problem.steps == 2 else 0
    return features(s, a[:, 0], np) @ problem.weights + later


@pytest.mark.parametrize("number", [1, 4])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_cost_to_go_and_the_best_action_are_found_when_the_cost_depends_on(name, number):
    problem = PROBLEMS[name]
    places = np.unique([*problem.starts, *(1.0,) * (problem.steps == 2)])
    grid = np.meshgrid(places, np.linspace(-0.9, 0.9, 9))
    s, a = (x.reshape(-1, 1).astype(np.float32) for x in grid)
    for seed in range(3):
        state = solved(problem, number, seed)
        q = critics.estimates(state.critics.layers, s, a)
        assert q.shape == (number, len(s))
        np.testing.assert_allclose(q, np.tile(truth(problem, s, a), (number, 1)), atol=0.1)
        if problem.best is not None:
            mode = gaussian.mode(state.policy.policy.layers, s)
            np.testing.assert_allclose(mode, problem.best * np.where(s == 0, 1, s), atol=0.1)


def test_the_cost_of_being_dead_is_paid_for_ever():
    s, a = np.float32([[0, 0], [0, 10]]), np.zeros((2, 1), np.float32)
    for seed in range(3):
        state = solved(DEATH, 1, seed, "absorbing")
        q = critics.estimates(state.critics.layers, s, a)[0]
        np.testing.assert_allclose(q, [GAMMA / (1 - GAMMA), 1 / (1 - GAMMA)], atol=0.1)
