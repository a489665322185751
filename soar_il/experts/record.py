"""What an expert demonstrates: episodes of a policy, with the seeds they came from."""

from typing import NamedTuple

import jax
import numpy as np

from soar_il import provenance
from soar_il.deep import policy
from soar_il.demos import Demos
from soar_il.envs.blind import Source
from soar_il.envs.scored import ScoredEnv
from soar_il.runs.snapshot import Snapshot
from soar_il.types import Spec

FIRST_SEED = 2_000_000_000  # apart from the fixed seeds of evaluation


class Recorded(NamedTuple):
    """Demonstrations and, beside them, the returns that they do not hold."""

    demos: Demos
    returns: np.ndarray


def record(
    snapshot: Snapshot,
    trajectories: int,
    deterministic: bool = True,
    seed: int = 0,
    source: Source | None = None,
    about: dict[str, object] | None = None,
) -> Recorded:
    """Episode n starts from its own seed and draws its own noise."""
    env = ScoredEnv(source or snapshot.env, snapshot.view.horizon)
    first = FIRST_SEED + seed * 10_000
    made = [_episode(env, snapshot, first + n, deterministic) for n in range(trajectories)]
    env.close()
    observations, actions, ends, returns = zip(*made, strict=True)
    said = {
        "env": snapshot.env,
        "who": "soar-il expert",
        "deterministic": deterministic,
        "reset_seeds": [first + n for n in range(trajectories)],
        "steps_trained": snapshot.steps,
        "versions": provenance.about()["versions"],
        **(about or {}),
    }
    return Recorded(Demos(observations, actions, np.array(ends), said), np.array(returns))


def _episode(
    env: ScoredEnv, snapshot: Snapshot, seed: int, deterministic: bool
) -> tuple[np.ndarray, np.ndarray, bool, float]:
    spec = Spec(0, env.action_size)
    noise = np.asarray(jax.random.normal(jax.random.key(seed), (env.horizon, spec.action)))
    observations: list[np.ndarray] = [env.reset(seed)]
    actions: list[np.ndarray] = []
    total = 0.0
    terminated = truncated = False
    while not (terminated or truncated):
        seen = snapshot.view(observations[-1])
        if deterministic:
            action = np.asarray(policy.play_mode(snapshot.layers, seen))
        else:
            action = np.asarray(policy.play(snapshot.layers, spec, seen, noise[len(actions)])[0])
        observation, reward, terminated, truncated = env.step_scored(action)
        observations.append(observation)
        actions.append(env.to_env(action))
        total += reward
    return np.stack(observations), np.stack(actions), terminated, total
