"""AdRIL (Swamy et al. 2021): a row's cost follows from whose it is and from when it was collected.

No cost network is fitted. The expert's rows are cheap, what the learner did in earlier rounds is
expensive, and what it does in the present one costs nothing yet. So half of each minibatch has to
be the expert's: ``learner.expert_share = 0.5``.
"""

import dataclasses
from typing import Literal, NamedTuple

import jax.numpy as jnp

from soar_il.bases.api import Base, Data, Needs
from soar_il.bases.given import Given
from soar_il.config import check_range
from soar_il.types import Array, Batch, Count, Metrics, PRNGKey, Scalar, Spec


@dataclasses.dataclass(frozen=True)
class Settings:
    """Rounds, and the unit of the costs.

    Args:
        round_steps: Environment steps of a round, which is made of whole iterations.
        unit: trajectory (the paper's costs: -1 / N_E for the expert's rows, 1 / N_past for those of
            earlier rounds) or expert (N_E times that, so that the expert's rows cost -1).
    """

    round_steps: int = 1000
    unit: Literal["expert", "trajectory"] = "expert"

    def __post_init__(self) -> None:
        check_range(self, ("round_steps",), least=1)


class Rounds(NamedTuple):
    """What tells the present round from earlier ones."""

    demonstrations: Scalar  # N_E
    past: Count  # N_past: the learner's trajectories before the present round; its first's number
    seen: Count  # the learner's trajectories so far
    steps: Count  # environment steps of the present round


def make(settings: Settings, given: Given) -> Base:
    """AdRIL with the indicator kernel, as its authors run it."""
    s = settings

    def init(key: PRNGKey, spec: Spec, expert: Data) -> Rounds:
        none = jnp.zeros((), jnp.int32)
        return Rounds(jnp.asarray(expert.trajectories, jnp.float32), none, none, none)

    def update(rounds: Rounds, expert: Data, data: Data, key: PRNGKey) -> tuple[Rounds, Metrics]:
        """Line 6 only counts: a round that is long enough ends before the newest trajectories."""
        over = rounds.steps >= s.round_steps
        past = jnp.where(over, rounds.seen, rounds.past)
        steps = jnp.where(over, 0, rounds.steps) + data.new_steps
        seen = jnp.copy(data.trajectories)  # the replay gives its own away when it grows
        rounds = Rounds(rounds.demonstrations, past, seen, steps)
        expert_cost, past_cost = costs(rounds)
        return rounds, {"cost_gap": past_cost - expert_cost, "past_cost": past_cost}

    def costs(rounds: Rounds) -> tuple[Array, Array]:
        """Of a row of the expert's and of one of an earlier round."""
        unit = rounds.demonstrations if s.unit == "expert" else 1.0
        expert, past = 1 / rounds.demonstrations, 1 / jnp.maximum(rounds.past, 1)
        return -unit * expert, unit * past  # rewards turn to costs here alone

    def cost_of(rounds: Rounds, batch: Batch) -> Array:
        expert, past = costs(rounds)
        earlier = jnp.where(batch.trajectory < rounds.past, past, 0.0)
        return jnp.where(batch.expert, expert, earlier)

    needs = Needs(actions=True, expert_rows=True)
    return Base(needs, init, update, cost_of, least_cost=-1.0)
