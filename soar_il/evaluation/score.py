"""Returns of a policy snapshot, on environments and seeds that training never uses."""

import json
from collections.abc import Callable
from importlib import resources
from typing import NamedTuple

import jax
import numpy as np

from soar_il.envs import play
from soar_il.envs.blind import Source
from soar_il.envs.scored import scored
from soar_il.errors import ConfigError
from soar_il.files import Fields
from soar_il.policy import Policy
from soar_il.runs.snapshot import act as play_policy
from soar_il.runs.snapshot import require_fit
from soar_il.types import PRNGKey

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
        if episodes < 1:
            raise ConfigError(f"episodes is {episodes}", do="give at least 1")
        made = [scored(source, horizon) for _ in range(episodes)]
        self.envs, self._logs = [env for env, _ in made], [log for _, log in made]
        self.seed = seed

    def score(self, policy: Policy, deterministic: bool) -> Score:
        """Every episode starts from the same seed at each call."""
        require_fit(policy, self.envs[0])
        if deterministic:
            return self._episodes(lambda seen, key: play_policy(policy, seen), int(deterministic))
        shape = len(self.envs), self.envs[0].action_size

        def act(seen: np.ndarray, key: PRNGKey) -> np.ndarray:
            return play_policy(policy, seen, np.asarray(jax.random.normal(key, shape)))

        return self._episodes(act, int(deterministic))

    def random(self) -> Score:
        """Of uniformly random actions."""
        shape = len(self.envs), self.envs[0].action_size

        def act(_: np.ndarray, key: PRNGKey) -> np.ndarray:
            return np.asarray(jax.random.uniform(key, shape, minval=-1.0))

        return self._episodes(act, 2)

    def _episodes(self, act: Callable[[np.ndarray, PRNGKey], np.ndarray], stream: int) -> Score:
        first = FIRST_SEED + self.seed * 10_000
        keys = [jax.random.fold_in(jax.random.key(first), stream)]

        def drawn(seen: np.ndarray, step: int) -> np.ndarray:
            keys[0], now = jax.random.split(keys[0])
            return act(seen, now)

        taus = play.episodes(self.envs, drawn, [first + n for n in range(len(self.envs))])
        returns = np.array([float(np.sum(log.rewards)) for log in self._logs])
        return Score(returns, np.array([len(tau.actions) for tau in taus]))

    def record(self, policy: Policy) -> Fields:
        """What scores.jsonl keeps of a snapshot."""
        mode, sample = self.score(policy, True), self.score(policy, False)
        record: Fields = {
            "k": policy.k,
            "steps": policy.steps,
            "return": float(mode.returns.mean()),
            "return_std": float(mode.returns.std()),
            "length": float(mode.lengths.mean()),
            "stochastic_return": float(sample.returns.mean()),
            "stochastic_return_std": float(sample.returns.std()),
            "stochastic_length": float(sample.lengths.mean()),
            "episodes": len(self.envs),
            "evaluation_seed": self.seed,
        }
        normal = normalised(policy.env, record["return"])
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
