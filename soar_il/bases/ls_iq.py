"""LS-IQ (Al-Hafez et al. 2023): IQ-Learn as least squares, towards targets that are known to hold.

The chi^2 regulariser of IQ-Learn bounds the implied cost, by -b at what only the expert does and by
b at what only the learner does. LS-IQ takes these bounds as the costs: Q is regressed on them.
"""

import dataclasses
from typing import Literal

import jax.numpy as jnp

from soar_il.bases import iq_learn
from soar_il.bases.api import Base, Cost, Look, Needs
from soar_il.bases.given import Given
from soar_il.config import check_range
from soar_il.types import Array, Batch, Metrics, Scalar


@dataclasses.dataclass(frozen=True)
class Settings:
    """The loss of the critics.

    Args:
        expert_target: What Q is led to at the expert's rows: fixed (the least value that there is,
            -b / (1 - gamma)) or bootstrap (-b + gamma V').
        policy_term: What is led to b + gamma V': value (V at the states of expert and learner) or
            q (Q at the learner's rows).
        regularisation: c of the chi^2 regulariser; the costs are +-b with b = 1 / c.
    """

    expert_target: Literal["fixed", "bootstrap"] = "fixed"
    policy_term: Literal["value", "q"] = "value"
    regularisation: float = 0.5

    def __post_init__(self) -> None:
        check_range(self, ("regularisation",), above=0)


def make(settings: Settings, given: Given) -> Base:
    """LS-IQ on states and actions."""
    s = settings
    bound = 1.0 / s.regularisation

    def cost_of(cost: Cost, batch: Batch) -> Array:
        """-b for the expert's rows, b for the learner's: the authors' r_max and r_min, as costs."""
        return jnp.where(batch.expert, -bound, bound) * jnp.ones_like(batch.continues)

    def loss(cost: Cost, look: Look) -> Scalar:
        batch, most = look.batch, bound / (1 - look.discount)
        y = iq_learn.later(bound, look, cost_of(cost, batch))
        stays = batch.weights > 1  # the absorbing state, which leads to itself for ever
        theirs = jnp.where(stays | (s.expert_target == "fixed"), -most, y - bound)
        ours = jnp.where(stays, most, y + bound)

        # Each row counts once: where the absorbing state stays, its target is the whole sum.
        share = iq_learn.halves(batch, jnp.ones_like(batch.weights))
        total = iq_learn.mean((look.q - theirs[:, None]) ** 2, share.expert)
        if s.policy_term == "q":
            return jnp.sum(total + iq_learn.mean((look.q - ours[:, None]) ** 2, share.learner))
        # In the absorbing state there is one action, so V is Q: the expert's own is no policy's.
        rows = (jnp.where(stays, 0.0, share.expert) + share.learner) / 2
        value = look.value(batch.observations)
        return jnp.sum(total + iq_learn.mean((value - ours[:, None]) ** 2, rows))

    def watch(cost: Cost, look: Look) -> Metrics:
        y = iq_learn.later(bound, look, cost_of(cost, look.batch))
        return iq_learn.implied(bound, look, y)

    return Base(
        Needs(actions=True, expert_rows=True),
        iq_learn.none,
        iq_learn.unchanged,
        cost_of,
        least_cost=-bound,
        critic_loss=loss,
        critic_metrics=watch,
    )
