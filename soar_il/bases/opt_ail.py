"""OPT-AIL (Xu et al. 2024): ML-IRL's cost from replay, and critics with an optimistic loss.

One critic is enough for it: its loss has a term of its own, which lowers the cost-to-go of good
actions below what the data say.
"""

import dataclasses
import math
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from soar_il.bases import ml_irl
from soar_il.bases.api import Base, Data, Look, Needs, squared_error
from soar_il.bases.fitting import Fit
from soar_il.bases.given import Given
from soar_il.config import check_range, only_read_with
from soar_il.types import Array, Batch, Float, Metrics, PRNGKey, Scalar, Spec

COLDEST = 1e-6  # a soft minimum has some temperature, also where the learner has none


@dataclasses.dataclass(frozen=True)
class Settings(ml_irl.Settings):
    """Those of ML-IRL's cost, and the term of the critics' loss.

    Args:
        optimism: start (the authors' theory: the least Q at start states), cql (the authors' code:
            Q of the policy's mode and of the expert's action, less the soft minimum over actions)
            or pairs (the SOAR paper: Q of the minibatch's own pairs).
        coefficient: lambda, the term's weight beside the squared error.
        actions: How many actions of the policy, and how many uniform ones, stand for all actions of
            a state (start, cql).
        starts: At how many start states, drawn anew at each cost update (start).
    """

    optimism: Literal["start", "cql", "pairs"] = "start"
    coefficient: float = 1e-3
    actions: int = 5
    starts: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self, ("coefficient",), above=0)
        check_range(self, ("actions", "starts"), least=1)
        if self.optimism != "start":
            only_read_with(self, ("starts",), "optimism = start")
        if self.optimism == "pairs":
            only_read_with(self, ("actions",), "optimism = start or cql")


class Begun(NamedTuple):
    """ML-IRL's cost, and where episodes start."""

    cost: Fit
    starts: Float[Array, "n s"]
    share: Float[Array, " n"]  # makes every trajectory count alike; sums to one


def make(settings: Settings, given: Given, state_only: bool) -> Base:
    """OPT-AIL on states alone or on states and actions."""
    s = settings
    inner = ml_irl.make(s, given, state_only)

    def begun(cost: Fit, data: Data, key: PRNGKey) -> Begun:
        first = data.draw_trajectories(key, s.starts, 1, whole=True)
        return Begun(cost, first.batch.observations[0], first.share)

    def init(key: PRNGKey, spec: Spec, expert: Data) -> Begun:
        return begun(inner.init(key, spec, expert), expert, jax.random.fold_in(key, 1))

    def update(state: Begun, expert: Data, data: Data, key: PRNGKey) -> tuple[Begun, Metrics]:
        cost, seen = inner.update(state.cost, expert, data, key)
        return begun(cost, data, jax.random.fold_in(key, 1)), seen

    def cost_of(state: Begun, batch: Batch) -> Array:
        return inner.cost(state.cost, batch)

    def term(state: Begun, look: Look) -> Float[Array, "L 2"]:
        if s.optimism == "start":
            return at_starts(look, state.starts, state.share, s.actions)
        if s.optimism == "cql":
            return against_the_soft_minimum(look, s.actions, state_only)
        return jnp.mean(look.q, axis=-1)

    def loss(state: Begun, look: Look) -> Scalar:
        return squared_error(state, look) + s.coefficient * jnp.sum(term(state, look))

    def watch(state: Begun, look: Look) -> Metrics:
        return {"optimism": jnp.mean(term(state, look))}

    return Base(
        Needs(actions=not state_only),
        init,
        update,
        cost_of,
        least_cost=inner.least_cost,
        critic_loss=loss,
        critic_metrics=watch,
    )


def at_starts(
    look: Look, starts: Float[Array, "n s"], share: Float[Array, " n"], actions: int
) -> Float[Array, "L 2"]:
    """E[min_a Q(s_1, a)]: the authors subtract lambda max_a Q(s_1, a), where Q sums up rewards."""
    states = jnp.broadcast_to(starts, (len(look.q), *starts.shape))
    q, _ = at_candidates(look, states, actions)
    return jnp.sum(share * jnp.min(q, axis=2), axis=-1)


def against_the_soft_minimum(look: Look, actions: int, state_only: bool) -> Float[Array, "L 2"]:
    """E[Q(s, a) - soft min Q(s, .)], a the policy's mode, in the expert's rows the expert's action.

    It lowers Q there and raises it at other actions that promise as little. The authors write
    V - Q for rewards, with V = alpha log E exp(Q / alpha) by importance weights.
    """
    batch = look.batch
    mode, _ = look.act(batch.observations, jnp.zeros_like(batch.actions))
    known = batch.expert[..., None] & (not state_only)
    good = at(look, batch.observations, jnp.where(known, batch.actions, mode))
    q, density = at_candidates(look, batch.observations, actions)
    alpha = jnp.maximum(look.alpha, COLDEST)
    soft = -alpha * jax.nn.logsumexp(-(q + density) / alpha, axis=2)
    return jnp.mean(good - soft, axis=-1)


def at_candidates(
    look: Look, states: Float[Array, "L B s"], n: int
) -> tuple[Float[Array, "L 2 {2*n} B"], Float[Array, "L 1 {2*n} B"]]:
    """Q of n actions of the policy and n uniform ones, and alpha times their log density."""
    keys = jax.random.split(look.key)
    many = jnp.broadcast_to(states[:, None], (states.shape[0], n, *states.shape[1:]))
    shape = (*many.shape[:-1], look.batch.actions.shape[-1])
    theirs, density = look.act(many, jax.random.normal(keys[0], shape))
    # In the absorbing state there is one action, zeros, and no other can be tried.
    alive = jnp.any(theirs != 0, axis=-1, keepdims=True)
    uniform = jnp.where(alive, jax.random.uniform(keys[1], shape, minval=-1.0, maxval=1.0), 0.0)
    flat = jnp.full_like(density, -look.alpha * shape[-1] * math.log(2.0))
    tried = jnp.concatenate([theirs, uniform], axis=1)
    rows = jnp.concatenate([many, many], axis=1)
    q = at(
        look, rows.reshape(len(rows), -1, rows.shape[-1]), tried.reshape(len(rows), -1, shape[-1])
    )
    return q.reshape(len(rows), 2, 2 * n, -1), jnp.concatenate([density, flat], axis=1)[:, None]


def at(
    look: Look, states: Float[Array, "L N s"], actions: Float[Array, "L N a"]
) -> Float[Array, "L 2 N"]:
    """Both of each pair at inputs of their own."""
    both = (jnp.repeat(x, 2, axis=0) for x in (states, actions))
    return look.critics(*both).reshape(len(states), 2, -1)
