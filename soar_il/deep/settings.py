"""The learner's settings, in the paper's letters."""

import dataclasses
import math
from typing import Literal

from soar_il.errors import ConfigError


@dataclasses.dataclass(frozen=True)
class Settings:
    """SAC with L pairs of critics.

    Args:
        critics: L, the number of pairs of critics; 1 is the base method without SOAR.
        sigma: The largest standard deviation that optimism may subtract, in units of cost-to-go.
        discount: gamma.
        alpha: The temperature: weight of the policy's entropy (eta in the paper's actor loss).
        tune_alpha: Learn alpha so that the entropy stays at its target ...
        target_entropy: ... which is this for each coordinate of the action.
        optimistic_targets: Let the backup use the optimistic Q too, as V^k does in the theory.
        split: trajectories (each critic has its own data, as in the paper) or minibatches (one
            data set, a minibatch for each critic, as in the released code).
        learning_rate: Of Adam, for critics, actor and temperature.
        target_rate: tau_targ, how far the targets move towards the critics at each update.
        average_rate: How far the policy that is handed out, an average of the actor's weights,
            moves towards the actor at each update; 0 hands out the actor itself.
        trial_every: Environment steps from one trial of the policy to the next; the one that came
            closest to the demonstrations is handed out. 0 for none: the latest is.
        trials: How many a policy has to pass, coming closer than what was kept in each.
        batch: Transitions in a minibatch.
        recent: Half of the learner's own part of a minibatch is drawn from this many newest
            transitions, the other half from all; 0 for all.
        hidden: Sizes of the hidden layers of actor and critics.
        updates_per_step: Updates of critics and actor for each environment step.
        iteration_steps: An iteration collects whole trajectories until it has this many steps ...
        iteration_trajectories: ... and this many trajectories.
        random_steps: The first iteration collects this many with the uniform policy instead.
        capacity: Rows of replay; the oldest are overwritten.
    """

    critics: int = 4
    sigma: float = 1.0
    discount: float = 0.99
    alpha: float = 0.2
    tune_alpha: bool = False
    target_entropy: float = -1.0
    optimistic_targets: bool = False
    split: Literal["trajectories", "minibatches"] = "trajectories"
    learning_rate: float = 1e-3
    target_rate: float = 0.005
    average_rate: float = 0.0
    trial_every: int = 0
    trials: int = 3
    batch: int = 100
    recent: int = 0
    hidden: tuple[int, ...] = (256, 256)
    updates_per_step: float = 1.0
    iteration_steps: int = 1000
    iteration_trajectories: int = 1
    random_steps: int = 1000
    capacity: int = 1_000_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))  # a list would not hash
        for name in ("critics", "batch", "trials", "iteration_steps", "iteration_trajectories"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}", do="give at least 1")
        for name in ("sigma", "alpha", "updates_per_step", "random_steps", "trial_every", "recent"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigError(f"{name} is {getattr(self, name)}", do="give 0 or more")
        if not 0 <= self.average_rate <= 1:
            raise ConfigError(f"average_rate is {self.average_rate}", do="give one in [0, 1]")
        for name in ("learning_rate", "target_rate"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"{name} is {getattr(self, name)}", do="give one in (0, 1]")
        if not 0 <= self.discount < 1:
            raise ConfigError(f"discount is {self.discount}", do="give one in [0, 1)")
        if not self.hidden or min(self.hidden) < 1:
            raise ConfigError(f"hidden is {self.hidden}", do="give sizes such as [256, 256]")
