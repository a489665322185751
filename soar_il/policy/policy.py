"""A policy that travels: it acts, and says where it is from."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from soar_il.errors import ConfigError
from soar_il.files import Fields
from soar_il.policy.forward import Layers, actions
from soar_il.policy.sight import Sight


@dataclasses.dataclass(eq=False)
class Policy:
    """pi^k, how it sees observations, and the bounds of its actions.

    Args:
        env: The id of the environment that it was trained for.
        k: Iterations of Algorithm 1 that it was trained.
        steps: Environment steps that it was trained.
        layers: Of one network, which gives a mean and a log standard deviation.
        view: How it sees observations.
        low: The least of each action, in the environment's units.
        high: The most of each action.
        activation: Between the layers, by its name in ``soar_il.policy.forward.ACTIVATIONS``.
        observation_size: Coordinates of an observation; 0 where an old file does not say.
        about: The rest of its card: method, demonstrations, returns, versions.
    """

    env: str
    k: int
    steps: int
    layers: Layers
    view: Sight
    low: np.ndarray
    high: np.ndarray
    activation: str = "relu"
    observation_size: int = 0
    about: Fields = dataclasses.field(default_factory=dict)
    draws: np.random.Generator = dataclasses.field(
        default_factory=lambda: np.random.default_rng(0), repr=False
    )

    @staticmethod
    def load(path: Path | str) -> "Policy":
        """What ``save`` or ``soar export`` wrote, on any machine and with any version since."""
        from soar_il.policy import file

        return file.load(Path(path))

    def save(self, path: Path | str) -> None:
        """One file: the arrays, the card, and a hash of every byte of it."""
        from soar_il.policy import file

        file.save(Path(path), self)

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[np.ndarray, Any]:
        """Actions in the environment's units for an observation, or for a batch of them.

        Args:
            observation: [d] or [n, d].
            state: Of a recurrent policy; given back as it is, for there is none.
            episode_start: Not needed.
            deterministic: The policy's mode; else a new draw from it at each call, which
                ``set_random_seed`` makes repeatable.
        """
        observation = np.asarray(observation, np.float32)
        self._check_shape(observation.shape)
        if not np.isfinite(observation).all():
            raise ConfigError(
                "the observation has a NaN or an infinity", do="look where it is from"
            )
        noise = None
        if not deterministic:
            shape = (*observation.shape[:-1], len(self.low))
            noise = self.draws.standard_normal(shape, np.float32)
        chosen = actions(self.layers, self.activation, self.view(observation), noise)
        return self.to_env(chosen), state

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        size = self.observation_size or self.seen_size
        given = shape[-1] if shape else 0
        if not self.observation_size and self.view.observed:
            given = min(given, size)  # of an old file, which says how many it looks at alone
        if len(shape) not in (1, 2) or given != size:
            raise ConfigError(
                f"the observation has shape {shape}", do=f"give [{size}] or [n, {size}]"
            )

    def set_random_seed(self, seed: int) -> None:
        """Of the draws that ``predict`` makes."""
        self.draws = np.random.default_rng(seed)

    def to_env(self, chosen: np.ndarray) -> np.ndarray:
        """From [-1, 1] to the environment's own bounds."""
        low, high = self.low.astype(np.float64), self.high.astype(np.float64)
        scaled = ((high + low) / 2 + chosen * ((high - low) / 2)).astype(np.float32)
        return np.clip(scaled, self.low, self.high)

    @property
    def seen_size(self) -> int:
        """Coordinates of an observation that it looks at."""
        return len(self.layers[0][0]) - (self.view.termination == "absorbing")

    @property
    def card(self) -> Fields:
        """Where it is from, as JSON can hold it."""
        view = {k: v for k, v in self.view._asdict().items() if k not in ("mean", "scale")}
        own = {"env": self.env, "k": self.k, "steps": self.steps, "activation": self.activation}
        return {**own, "observation_size": self.observation_size, "view": view, "about": self.about}

    def __repr__(self) -> str:
        method = f", {self.about['method']}" if "method" in self.about else ""
        return f"Policy({self.env!r}{method}, {self.steps:,} steps)"
