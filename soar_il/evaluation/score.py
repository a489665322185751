"""Returns of a policy snapshot, on environments and seeds that training never uses."""

from typing import Any, NamedTuple

import jax
import numpy as np

from soar_il.config import package_toml
from soar_il.deep import policy
from soar_il.envs.blind import Source
from soar_il.envs.scored import ScoredEnv
from soar_il.runs.snapshot import Snapshot
from soar_il.types import Spec

FIRST_SEED = 1_000_000_000  # training draws its reset seeds at random; these are fixed and apart


class Score(NamedTuple):
    """One number an episode; higher returns are better."""

    returns: np.ndarray
    lengths: np.ndarray


class Evaluator:
    """Its own environments, one an episode, stepped together."""

    def __init__(
        self, source: Source, episodes: int = 10, horizon: int | None = None, seed: int = 0
    ) -> None:
        self.envs = [ScoredEnv(source, horizon) for _ in range(episodes)]
        self.seed = seed

    def score(self, snapshot: Snapshot, deterministic: bool) -> Score:
        """Every episode starts from the same seed at each call."""
        first = FIRST_SEED + self.seed * 10_000
        key = jax.random.fold_in(jax.random.key(first), int(deterministic))
        observations = np.stack([e.reset(first + n) for n, e in enumerate(self.envs)])
        returns, lengths = np.zeros(len(self.envs)), np.zeros(len(self.envs), int)
        running = np.ones(len(self.envs), bool)
        spec = Spec(0, self.envs[0].action_size)
        while running.any():
            seen = snapshot.view(observations)
            if deterministic:
                actions = np.asarray(policy.play_mode(snapshot.layers, seen))
            else:
                key, now = jax.random.split(key)
                noise = jax.random.normal(now, (len(self.envs), spec.action))
                actions = np.asarray(policy.play(snapshot.layers, spec, seen, noise)[0])
            for n in np.flatnonzero(running):
                observations[n], reward, terminated, truncated = self.envs[n].step_scored(
                    actions[n]
                )
                returns[n] += reward
                lengths[n] += 1
                running[n] = not (terminated or truncated)
        return Score(returns, lengths)

    def record(self, snapshot: Snapshot) -> dict[str, Any]:
        """What scores.jsonl keeps of a snapshot."""
        mode, sample = self.score(snapshot, True), self.score(snapshot, False)
        record: dict[str, Any] = {
            "k": snapshot.k,
            "steps": snapshot.steps,
            "return": float(mode.returns.mean()),
            "return_std": float(mode.returns.std()),
            "length": float(mode.lengths.mean()),
            "stochastic_return": float(sample.returns.mean()),
            "stochastic_return_std": float(sample.returns.std()),
            "stochastic_length": float(sample.lengths.mean()),
            "episodes": len(self.envs),
            "evaluation_seed": self.seed,
        }
        normal = normalised(snapshot.env, record["return"])
        return record if normal is None else {**record, "normalised": normal}

    def close(self) -> None:
        for env in self.envs:
            env.close()


def normalised(env: str, value: float) -> float | None:
    """0 for uniformly random actions, 1 for the expert; None where these are not known."""
    known = package_toml("evaluation/references.toml").get(env)
    if known is None:
        return None
    return (value - known["random"]) / (known["expert"] - known["random"])
