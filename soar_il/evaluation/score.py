"""Returns of a policy snapshot, on environments and seeds that training never uses."""

import json
from collections.abc import Callable
from importlib import resources
from typing import Any, NamedTuple

import jax
import numpy as np

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

        def act(observations: np.ndarray, key: Any) -> np.ndarray:
            seen = snapshot.view(observations)
            if deterministic:
                return np.asarray(policy.play_mode(snapshot.layers, seen))
            noise = jax.random.normal(key, (len(self.envs), spec.action))
            return np.asarray(policy.play(snapshot.layers, spec, seen, noise)[0])

        spec = Spec(0, self.envs[0].action_size)
        return self._episodes(act, int(deterministic))

    def random(self) -> Score:
        """Of uniformly random actions."""
        shape = len(self.envs), self.envs[0].action_size

        def act(_: np.ndarray, key: Any) -> np.ndarray:
            return np.asarray(jax.random.uniform(key, shape, minval=-1.0))

        return self._episodes(act, 2)

    def _episodes(self, act: Callable[[np.ndarray, Any], np.ndarray], stream: int) -> Score:
        first = FIRST_SEED + self.seed * 10_000
        key = jax.random.fold_in(jax.random.key(first), stream)
        observations = np.stack([e.reset(first + n) for n, e in enumerate(self.envs)])
        returns, lengths = np.zeros(len(self.envs)), np.zeros(len(self.envs), int)
        running = np.ones(len(self.envs), bool)
        while running.any():
            key, now = jax.random.split(key)
            actions = act(observations, now)
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


def shipped(env: str) -> tuple[float, float] | None:
    """Returns of uniformly random actions and of the shipped expert; None where there is none."""
    card = resources.files("soar_il") / "experts" / "policies" / f"{env}.json"
    if not card.is_file():
        return None
    known = json.loads(card.read_text())
    return float(known["random_return"]), float(known["return"])


def normalised(env: str, value: float) -> float | None:
    """0 for uniformly random actions, 1 for the shipped expert; None where there is none."""
    known = shipped(env)
    return None if known is None else (value - known[0]) / (known[1] - known[0])
