"""Demonstrations beside a few random steps of their environment."""

from typing import Any

import numpy as np
import numpy.typing as npt

from soar_il.demos.align import ROWS_PER_FEATURE, predict, ridge
from soar_il.demos.format import Demos

Array = npt.NDArray[np.float64]

STEPS = 3000
KNOWN = 0.99  # share of variance: what s_t says of a step or an action holds off its own data too
CLEAR = 4.0  # times the squared error


def compare(demos: Demos, env: Any, steps: int = STEPS) -> list[tuple[str, str]]:
    """(what, remedy) for each sign that time or the actions do not run as in the environment."""
    s, a, after = _random_steps(env, steps)
    return _time(demos, s, after) + _recorded_actions(demos, s, a, after)


def _random_steps(env: Any, steps: int) -> tuple[Array, Array, Array]:
    env.action_space.seed(0)
    rows: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    state, _ = env.reset(seed=0)
    for _ in range(steps):
        action = env.action_space.sample()
        following, _, terminated, truncated, _ = env.step(action)
        for kept, value in zip(rows, (state, action, following), strict=True):
            kept.append(np.array(value, dtype=np.float64))
        state = env.reset()[0] if terminated or truncated else following
    return np.array(rows[0]), np.array(rows[1]), np.array(rows[2])


def _explained(x: Array, y: Array) -> tuple[Array, Array]:
    """Weights from the first half, and the share of each column's variance they explain after."""
    half = len(x) // 2
    weights = ridge(x[:half], y[:half])
    error = ((y[half:] - predict(weights, x[half:])) ** 2).mean(axis=0)
    variance = y[half:].var(axis=0)
    return weights, np.where(variance > 1e-10, 1 - error / np.maximum(variance, 1e-10), 0.0)


def _time(demos: Demos, s: Array, after: Array) -> list[tuple[str, str]]:
    """Positions move by what the velocities of both ends say, whoever acts."""
    if len(s) < 2 * ROWS_PER_FEATURE * s.shape[1]:
        return []
    weights, share = _explained(s + after, after - s)
    lawful = share > KNOWN
    now = np.concatenate([x[:-1] for x in demos.observations]).astype(np.float64)
    then = np.concatenate([x[1:] for x in demos.observations]).astype(np.float64)
    law = predict(weights, now + then)[:, lawful]
    moved = (then - now)[:, lawful]
    unit = moved.std(axis=0)
    moving = unit > 1e-9
    if not moving.any():
        return []
    law, moved = law[:, moving] / unit[moving], moved[:, moving] / unit[moving]
    forward, still, backward = (
        float(((sign * moved - law) ** 2).mean()) for sign in (1.0, 0.0, -1.0)
    )
    if backward * CLEAR < forward:
        return [("time looks reversed", "give each trajectory from s_0 to s_T")]
    if still < forward:
        return [
            ("states do not follow from each other", "is time shuffled, or are steps left out?")
        ]
    return []


def _recorded_actions(demos: Demos, s: Array, a: Array, after: Array) -> list[tuple[str, str]]:
    """Where an observation records the action that led to it, the pairs can be read off."""
    weights, share = _explained(after, a)
    if demos.actions is None or not (share > KNOWN).all():
        return []
    taken = np.concatenate(demos.actions)
    now = np.concatenate([x[:-1] for x in demos.observations]).astype(np.float64)
    then = np.concatenate([x[1:] for x in demos.observations]).astype(np.float64)
    right, late = (float(((predict(weights, x) - taken) ** 2).mean()) for x in (then, now))
    if late * CLEAR < right:
        return [
            (
                "actions look shifted by one: an observation records the action beside it",
                "import with shift=1",
            )
        ]
    return []
