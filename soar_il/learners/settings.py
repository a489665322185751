"""Settings that every learner has: those of SOAR, and those that the engine reads."""

import dataclasses
from typing import Literal

from soar_il.config import check_range, only_read_with
from soar_il.errors import ConfigError


@dataclasses.dataclass(frozen=True)
class Settings:
    """L pairs of critics and an actor, in the paper's letters.

    Args:
        critics: L, the number of pairs of critics; 1 is the base method without SOAR.
        sigma: The clip value: the most that optimism subtracts from the mean of the critics.
        sigma_in: What sigma counts: units of cost-to-go, mean spreads of the minibatch (spread), or
            the largest cost-to-go that the cost's bound allows, bound / (1 - gamma) (bound).
        smooth_clip: Whether the clip is sigma tanh(std / sigma), which keeps its gradient.
        single_critics: Whether mean and spread are of the 2 L critics, not of the L pairs.
        discount: gamma.
        optimistic_targets: Whether the backup uses the optimistic Q too, as V^k does in the theory
            (Algorithm 2, line 15).
        split: trajectories (each critic has its own data, as in the paper) or minibatches (one
            data set, a minibatch for each critic, as in the released code).
        learning_rate: Step size of Adam, for critics, actor and temperature.
        target_rate: tau_targ: at each update the target critics move so far towards the critics.
        average_rate: The policy that is kept is an average of the actor's weights; so far it moves
            towards the actor at each update. At 0 the actor itself is kept.
        trial_every: Environment steps from one trial of the policy to the next. A trial is an
            episode without noise; the policy whose episodes are most like the demonstrations is
            kept. 0 for no trials: the latest policy is kept.
        trials: A new policy is kept if so many of its episodes in a row are more like the
            demonstrations than those of the policy kept so far.
        batch: Transitions in a minibatch.
        recent: Half of the learner's own part of a minibatch is drawn from this many newest
            transitions, the other half from all; 0 for all.
        expert_share: The part of each minibatch that is the expert's.
        expert_share_last: That part moves to this one, in a straight line ...
        expert_share_steps: ... within so many environment steps; at 0 it stays as it is.
        inverse_hidden: If a method reads no actions of the expert and expert_share is above 0, its
            actions are inferred from its states by a network with hidden layers of these sizes.
        hidden: Sizes of the hidden layers of actor and critics.
        layer_norm: Whether the critics' hidden layers are normalised. This keeps Q from diverging
            at the expert's rows, which may be unlike all that the learner has seen.
        updates_per_step: Updates of critics and actor for each environment step.
        iteration_steps: An iteration collects whole episodes until it has this many steps ...
        iteration_trajectories: ... and this many episodes.
        random_steps: The first iteration collects this many steps with the uniform policy instead.
        capacity: Transitions that are kept; the oldest are overwritten.
    """

    critics: int = 4
    sigma: float = 1.0
    sigma_in: Literal["cost-to-go", "spread", "bound"] = "cost-to-go"
    smooth_clip: bool = False
    single_critics: bool = False
    discount: float = 0.99
    optimistic_targets: bool = False
    split: Literal["trajectories", "minibatches"] = "trajectories"
    learning_rate: float = 1e-3
    target_rate: float = 0.005
    average_rate: float = 0.0
    trial_every: int = 0
    trials: int = 3
    batch: int = 100
    recent: int = 0
    expert_share: float = 0.0
    expert_share_last: float = 0.0
    expert_share_steps: int = 0
    inverse_hidden: tuple[int, ...] = (256, 256)
    hidden: tuple[int, ...] = (256, 256)
    layer_norm: bool = False
    updates_per_step: float = 1.0
    iteration_steps: int = 1000
    iteration_trajectories: int = 1
    random_steps: int = 1000
    capacity: int = 1_000_000

    def __post_init__(self) -> None:
        for name in ("hidden", "inverse_hidden"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # a list would not hash
        whole = ("critics", "batch", "trials", "iteration_steps", "iteration_trajectories")
        check_range(self, (*whole, "hidden", "inverse_hidden"), least=1)
        check_range(self, ("sigma", "updates_per_step"), least=0)
        check_range(self, ("random_steps", "trial_every", "recent"), least=0)
        check_range(self, ("average_rate",), least=0, most=1)
        check_range(self, ("learning_rate", "target_rate"), above=0, most=1)
        check_range(self, ("discount", "expert_share", "expert_share_last"), least=0, below=1)
        check_range(self, ("expert_share_steps",), least=0)
        if self.critics == 1 and not self.single_critics:
            only_read_with(self, ("sigma_in", "smooth_clip"), "critics above 1")
        if not self.trial_every:
            only_read_with(self, ("trials",), "trial_every above 0")
        if not self.share_moves:
            only_read_with(self, ("expert_share_last",), "expert_share_steps above 0")
        elif not self.expert_share:
            what = "expert_share is 0, and expert_share_steps says how it moves"
            raise ConfigError(what, do="give both or none")

    @property
    def share_moves(self) -> bool:
        """Whether the expert's part of a minibatch changes as the learner collects."""
        return self.expert_share_steps > 0

    @property
    def own_data(self) -> bool:
        """Whether each critic has data of its own."""
        return self.split == "trajectories" and self.critics > 1
