"""UpdateCritics and OptimisticQ-NN: L pairs of critics as one stack of 2L networks."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from soar_il import optimism
from soar_il.deep import networks, policy
from soar_il.deep.settings import Settings
from soar_il.types import Batch, Spec


class Critics(NamedTuple):
    """theta_ell^(1), theta_ell^(2) at places 2 ell and 2 ell + 1 of the stack."""

    layers: networks.Layers
    targets: networks.Layers
    optimiser: Any


class Extra(NamedTuple):
    """What a base method may add to the critics' task."""

    log_prior: Callable[[Any, Any], Any] | None = None  # (s, a) -> log q(a|s)
    least: float = -math.inf
    term: Callable[[Callable[[Any, Any], Any], int], Any] | None = None  # added to the loss


NOTHING = Extra()


def init(key: Any, spec: Spec, settings: Settings) -> Critics:
    """Random critics; targets start as copies (the paper: random too; see deviations)."""
    sizes = (spec.observation + spec.action, *settings.hidden, 1)
    layers = networks.init(key, sizes, (2 * settings.critics,))
    targets = jax.tree.map(jnp.copy, layers)
    return Critics(layers, targets, optax.adam(settings.learning_rate).init(layers))


def pairs(layers: networks.Layers, observations: Any, actions: Any) -> Any:
    """Both members of every pair, [L, 2, B], on shared inputs [B, d] or a batch each [L, B, d]."""
    x = jnp.concatenate([observations, actions], axis=-1)
    if x.ndim == 3:
        x = jnp.repeat(x, 2, axis=0)
    q = networks.apply(layers, x)[..., 0]
    return q.reshape(-1, 2, q.shape[-1])


def each(layers: networks.Layers, observations: Any, actions: Any) -> Any:
    """All 2L critics, [2L, B], on shared actions [B, d] or on actions of their own [2L, B, d]."""
    shape = (*actions.shape[:-1], observations.shape[-1])
    x = jnp.concatenate([jnp.broadcast_to(observations, shape), actions], axis=-1)
    return networks.apply(layers, x)[..., 0]


def estimates(layers: networks.Layers, observations: Any, actions: Any) -> Any:
    """Q_ell = max of its pair, [L, B]: the larger cost is the cautious one."""
    return jnp.max(pairs(layers, observations, actions), axis=1)


def optimistic_q(
    layers: networks.Layers, observations: Any, actions: Any, sigma: float
) -> tuple[Any, Any]:
    """OptimisticQ-NN, and the standard deviation that it clips."""
    x = estimates(layers, observations, actions)
    return optimism.mean_minus_clipped_std(x, sigma), jnp.std(jax.lax.stop_gradient(x), axis=0)


def backup(
    critics: Critics,
    pi: policy.Policy,
    costs: Any,
    batch: Batch,
    noise: Any,
    spec: Spec,
    s: Settings,
    extra: Extra = NOTHING,
) -> Any:
    """c(s, a) + gamma (Q_targ(s', a') + alpha log pi(a'|s')), [L, B].

    The paper prints Q_targ at (s, a); it is meant at (s', a').
    """
    following = batch.next_observations
    actions, log_pi = policy.sample(pi.layers, spec, following, noise)
    if s.optimistic_targets:
        flat = following.reshape(-1, following.shape[-1]), actions.reshape(-1, actions.shape[-1])
        q = optimistic_q(critics.targets, *flat, s.sigma)[0].reshape(log_pi.shape)
    else:
        q = estimates(critics.targets, following, actions)
    if extra.log_prior is not None:
        prior = extra.log_prior(following, actions)
        log_pi = policy.relative(log_pi, prior, spec, following)
    value = jnp.maximum(q + jnp.exp(pi.log_alpha) * log_pi, extra.least)
    return costs + s.discount * batch.continues * value


def update(
    critics: Critics,
    pi: policy.Policy,
    costs: Any,
    batch: Batch,
    noise: Any,
    spec: Spec,
    s: Settings,
    extra: Extra = NOTHING,
) -> tuple[Critics, dict[str, Any]]:
    """One Adam step for every critic on its own batch, then the targets follow."""
    return towards(
        critics, backup(critics, pi, costs, batch, noise, spec, s, extra), batch, s, extra
    )


def towards(
    critics: Critics, goal: Any, batch: Batch, s: Settings, extra: Extra
) -> tuple[Critics, dict[str, Any]]:
    """One Adam step towards ``goal`` [L, B]."""

    def loss(layers: networks.Layers) -> tuple[Any, Any]:
        q = pairs(layers, batch.observations, batch.actions)
        error = jnp.mean((q - goal[:, None]) ** 2, axis=-1)
        total = jnp.sum(error)
        if extra.term is not None:
            total = total + extra.term(partial(each, layers), 2 * s.critics)
        return total, (jnp.mean(error), jnp.mean(q))

    gradient, (error, q) = jax.grad(loss, has_aux=True)(critics.layers)
    steps, optimiser = optax.adam(s.learning_rate).update(gradient, critics.optimiser)
    layers = optax.apply_updates(critics.layers, steps)
    targets = optax.incremental_update(layers, critics.targets, s.target_rate)
    return Critics(layers, targets, optimiser), {"critic_loss": error, "q": q}
