"""IQ-Learn (Garg et al. 2021): Q is learned directly, and the cost is what it implies.

The implied cost is c(s, a) = Q(s, a) - gamma V(s'). It should be low on the expert's rows, high
where the policy goes, and small in square everywhere: three terms of one loss on Q. There is no
cost to learn in line 6; lines 7-9 do it all.
"""

import dataclasses
from typing import Literal, NamedTuple

import jax.numpy as jnp

from soar_il.bases.api import Base, Cost, Data, Look, Needs
from soar_il.bases.given import Given
from soar_il.config import check_range
from soar_il.types import Array, Batch, Bool, Float, Metrics, PRNGKey, Scalar, Spec

SLACK = 1.1  # a value that was led to its bound is often a little beyond it


@dataclasses.dataclass(frozen=True)
class Settings:
    """The loss of the critics.

    Args:
        policy_term: How the implied cost of the policy is estimated: value (as V - gamma V' at the
            states of expert and learner) or v0 (as (1 - gamma) V at the expert's states).
        regularisation: Weight of the squared implied cost, 1 / (4 alpha) in the authors' letters.
            The best implied cost is then within +-1 / regularisation.
    """

    policy_term: Literal["value", "v0"] = "value"
    regularisation: float = 0.5

    def __post_init__(self) -> None:
        check_range(self, ("regularisation",), above=0)


class Halves(NamedTuple):
    """Weights that make means over the expert's rows and over the learner's; each sums to one."""

    expert: Float[Array, "L B"]
    learner: Float[Array, "L B"]


def halves(batch: Batch, weights: Float[Array, "L B"]) -> Halves:
    """Rows of a kind count by ``weights``; a kind without rows counts nothing."""

    def share(rows: Bool[Array, "L B"]) -> Float[Array, "L B"]:
        own = weights * rows
        total = jnp.sum(own, axis=-1, keepdims=True)
        return own / jnp.where(total > 0, total, 1.0)

    return Halves(share(batch.expert), share(~batch.expert))


def mean(x: Float[Array, "L 2 B"], share: Float[Array, "L B"]) -> Float[Array, "L 2"]:
    """For each critic the mean over its own rows."""
    return jnp.sum(x * share[:, None], axis=-1)


def later(bound: float, look: Look, costs: Array | float = 0.0) -> Float[Array, "L B"]:
    """gamma V(s') of the targets, within what costs of at most ``bound`` allow."""
    most = look.discount * bound / (1 - look.discount)
    return jnp.clip(look.goal - costs, -most, most)


def implied(bound: float, look: Look, y: Float[Array, "L B"]) -> Metrics:
    """What a person wants to know of critics that are fitted without a cost network.

    The gap of the implied costs, and which share of Q is more than a tenth beyond what costs within
    ``bound`` allow.
    """
    costs = look.q - y[:, None]
    share = halves(look.batch, look.batch.weights)
    gap = jnp.mean(mean(costs, share.learner) - mean(costs, share.expert))
    beyond = jnp.mean(jnp.abs(look.q) > SLACK * bound / (1 - look.discount))
    return {"cost_gap": gap, "q_beyond": beyond}


def none(key: PRNGKey, spec: Spec, expert: Data) -> tuple[()]:
    """The cost state of a method that has no cost network."""
    return ()


def unchanged(cost: Cost, expert: Data, data: Data, key: PRNGKey) -> tuple[Cost, Metrics]:
    """Line 6 of a method that has nothing to learn there."""
    return cost, {}


def make(settings: Settings, given: Given) -> Base:
    """IQ-Learn with the chi^2 regulariser on the data of expert and learner."""
    s = settings
    bound = 1.0 / s.regularisation

    def no_cost(cost: Cost, batch: Batch) -> Array:
        return jnp.zeros_like(batch.continues)  # so that the engine's goal is gamma V(s') alone

    def loss(cost: Cost, look: Look) -> Scalar:
        y = later(bound, look)
        costs = look.q - y[:, None]
        share = halves(look.batch, look.batch.weights)
        all_rows = (share.expert + share.learner) / 2
        # Nothing but the bound holds Q at actions that no data have, and this term drives it up.
        v = jnp.minimum(look.value(look.batch.observations), bound / (1 - look.discount))
        if s.policy_term == "value":
            policy = mean(v - y[:, None], all_rows)
        else:
            policy = (1 - look.discount) * mean(v, share.expert)
        # The authors maximise rewards, the first two terms with their signs turned round.
        total = mean(costs, share.expert) - policy + s.regularisation * mean(costs**2, all_rows)
        return jnp.sum(total)

    def watch(cost: Cost, look: Look) -> Metrics:
        return implied(bound, look, later(bound, look))

    return Base(
        Needs(actions=True, expert_rows=True),
        none,
        unchanged,
        no_cost,
        least_cost=-bound,
        critic_loss=loss,
        critic_metrics=watch,
    )
