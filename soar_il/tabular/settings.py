"""What Algorithm 2 leaves open, and what the released notebook does instead."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal

from soar_il.errors import ConfigError


@dataclass(frozen=True)
class Settings:
    """Settings of Tabular SOAR-IL. The defaults are those of the paper's hard-exploration task."""

    critics: int = 3
    """L, the number of estimators."""
    eta: float = 4.0
    """Policy step size."""
    alpha: float = 0.5
    """Cost step size."""
    rule: Literal["min", "mean-std"] = "mean-std"
    """How OptimisticQTabular joins the L estimates."""
    bonus_scale: float = 0.001
    """Factor on sigma in the mean-std rule; the theory's is 1."""
    state_only: bool = True
    """Whether the expert data are states, or state-action pairs."""
    routing: Literal["visits", "trajectories"] = "visits"
    """Which dataset a transition joins: its visit number mod L (paper), or one rollout each."""
    kernel: Literal["plus-two", "uniform-prior"] = "plus-two"
    """N(s,a,.) / (N(s,a) + 2) (paper), or N(s,a,.) / N(s,a), uniform where nothing was seen."""
    spread: Literal["sum", "population"] = "sum"
    """Sigma without (paper) or with 1/L under the root."""
    clip: Literal["floor", "range"] = "floor"
    """Floor the bonus at 0 (paper), or clip the whole Q to [0, 1/(1-gamma)]."""
    value_policy: Literal["new", "old"] = "new"
    """V^{k+1} with pi^{k+1} (paper), or with pi^k."""
    cost_trajectories: int = 0
    """Extra rollouts for the learner's occupancy; 0 takes the last step of tau^k (paper)."""
    last_transition: bool = True
    """Whether s_{L^k + 1} enters the datasets (paper) or is dropped."""

    def __post_init__(self) -> None:
        _at_least("critics", self.critics, 1)
        _at_least("cost_trajectories", self.cost_trajectories, 0)
        for field in ("eta", "alpha"):
            number = getattr(self, field)
            if not (math.isfinite(number) and number > 0):
                raise ConfigError(f"{field} is {number}", do="give a positive number")
        if not (math.isfinite(self.bonus_scale) and self.bonus_scale >= 0):
            raise ConfigError(f"bonus_scale is {self.bonus_scale}", do="give a number >= 0")

    @property
    def data_rollouts(self) -> int:
        """How many trajectories an iteration adds to the datasets."""
        return self.critics if self.routing == "trajectories" else 1

    @property
    def rollouts(self) -> int:
        """How many trajectories an iteration takes in all."""
        return self.data_rollouts + self.cost_trajectories

    def with_critics(self, critics: int) -> "Settings":
        return dataclasses.replace(self, critics=critics)


def _at_least(field: str, number: int, least: int) -> None:
    if not isinstance(number, int) or number < least:
        raise ConfigError(f"{field} is {number!r}", do=f"give a whole number >= {least}")
