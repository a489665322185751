"""Episodes, however they are used: for training, demonstrations, scores and videos."""

from collections.abc import Callable, Sequence

import numpy as np

from soar_il.envs.blind import BlindEnv
from soar_il.types import Float, Trajectory

Act = Callable[[Float[np.ndarray, " s"], int], Float[np.ndarray, " a"]]
ActEach = Callable[[Float[np.ndarray, "n s"], int], Float[np.ndarray, "n a"]]


def episode(env: BlindEnv, act: Act, seed: int) -> Trajectory:
    """Play until the environment ends it or its time is up.

    Args:
        env: Where to play.
        act: From an observation and the number of the step to an action in [-1, 1].
        seed: Decides the first state, and whatever is random in the environment.
    """
    return episodes([env], lambda seen, step: act(seen[0], step)[None], [seed])[0]


def episodes(envs: Sequence[BlindEnv], act: ActEach, seeds: Sequence[int]) -> list[Trajectory]:
    """One episode in each environment, all of them stepped together.

    ``act`` is given the last observation of every environment, also of those that are over.
    """
    states = [[env.reset(seed)] for env, seed in zip(envs, seeds, strict=True)]
    actions: list[list[np.ndarray]] = [[] for _ in envs]
    terminated = [False] * len(envs)
    running = list(range(len(envs)))
    step = 0
    while running:
        chosen = act(np.stack([s[-1] for s in states]), step)
        going = []
        for n in running:
            observation, terminated[n], truncated = envs[n].step(chosen[n])
            states[n].append(observation)
            actions[n].append(chosen[n])
            if not (terminated[n] or truncated):
                going.append(n)
        running, step = going, step + 1
    return [
        Trajectory(np.stack(s), np.stack(a), end)
        for s, a, end in zip(states, actions, terminated, strict=True)
    ]
