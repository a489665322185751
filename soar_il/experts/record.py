"""What an expert demonstrates: episodes of a policy, with the seeds they came from."""

from typing import NamedTuple

import jax
import numpy as np

from soar_il import provenance
from soar_il.demos import Demos
from soar_il.envs.blind import BlindEnv, Source
from soar_il.envs.play import episode
from soar_il.envs.scored import scored
from soar_il.runs.snapshot import Snapshot
from soar_il.types import Trajectory

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
    env, log = scored(source or snapshot.env, snapshot.view.horizon)
    first = FIRST_SEED + seed * 10_000
    taus, returns = [], []
    for n in range(trajectories):
        taus.append(_played(env, snapshot, first + n, deterministic))
        returns.append(sum(log.rewards))
    env.close()
    said = {
        "env": snapshot.env,
        "who": "soar-il expert",
        "deterministic": deterministic,
        "reset_seeds": [first + n for n in range(trajectories)],
        "steps_trained": snapshot.steps,
        "versions": provenance.about()["versions"],
        **(about or {}),
    }
    demos = Demos(
        tuple(tau.observations for tau in taus),
        tuple(env.to_env(tau.actions) for tau in taus),
        np.array([tau.terminated for tau in taus]),
        said,
    )
    return Recorded(demos, np.array(returns))


def _played(env: BlindEnv, snapshot: Snapshot, seed: int, deterministic: bool) -> Trajectory:
    if deterministic:
        return episode(env, lambda seen, step: snapshot.act(seen), seed)
    shape = (env.horizon, env.action_size)
    noise = np.asarray(jax.random.normal(jax.random.key(seed), shape))
    return episode(env, lambda seen, step: snapshot.act(seen, noise[step]), seed)
