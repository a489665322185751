"""What an environment itself does: where it starts, and a few thousand random steps of it."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

RESETS = 100
STEPS = 3000


class Probe(NamedTuple):
    """First observations of resets, and steps (s, a, s') under uniformly random actions."""

    starts: Array  # [RESETS, d]
    states: Array  # [STEPS, d]
    actions: Array
    after: Array


def probe(env: Any, resets: int = RESETS, steps: int = STEPS) -> Probe:
    """Rewards are not looked at."""
    env.action_space.seed(0)
    starts = [np.array(env.reset(seed=n)[0], np.float64) for n in range(resets)]
    rows: tuple[list[Array], list[Array], list[Array]] = ([], [], [])
    state, _ = env.reset(seed=0)
    for _ in range(steps):
        action = env.action_space.sample()
        following, _, terminated, truncated, _ = env.step(action)
        for kept, value in zip(rows, (state, action, following), strict=True):
            kept.append(np.array(value, np.float64))
        state = env.reset()[0] if terminated or truncated else following
    return Probe(np.array(starts), *(np.array(kept) for kept in rows))
