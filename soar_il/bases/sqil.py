"""SQIL (Reddy et al. 2020): the cost is -1 for the expert's rows and 0 for the learner's.

Nothing is learned in line 6. What a row costs follows from whose it is, not from what is in it, so
half of each minibatch has to be the expert's, for ever: ``learner.expert_share = 0.5``.
"""

import dataclasses

import jax.numpy as jnp

from soar_il.bases.api import Base, Data, Needs
from soar_il.bases.given import Given
from soar_il.types import Array, Batch, Metrics, PRNGKey, Spec

EXPERT, LEARNER = 1.0, 0.0  # the paper's rewards


@dataclasses.dataclass(frozen=True)
class Settings:
    """There are none: all that can be set is the learner's."""


def make(settings: Settings, given: Given) -> Base:
    """Two costs, and nothing that is kept between two updates."""

    def init(key: PRNGKey, spec: Spec, expert: Data) -> tuple[()]:
        return ()

    def update(
        cost: tuple[()], expert: Data, data: Data, key: PRNGKey
    ) -> tuple[tuple[()], Metrics]:
        """Line 6 has nothing to do."""
        return cost, {"cost_gap": jnp.float32(EXPERT - LEARNER)}

    def cost_of(cost: tuple[()], batch: Batch) -> Array:
        return -jnp.where(batch.expert, EXPERT, LEARNER)  # rewards turn to costs here alone

    needs = Needs(actions=True, expert_rows=True)
    return Base(needs, init, update, cost_of, least_cost=-EXPERT)
