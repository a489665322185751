"""Line 11: one Adam step of the policy on alpha log pi + Q, and of a tuned temperature."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from soar_il.deep import networks, policy
from soar_il.deep.settings import Settings
from soar_il.types import Spec

Q = Callable[[Any, Any], tuple[Any, Any]]  # (observations, actions) -> optimistic Q, spread
Prior = Callable[[Any, Any], Any]  # (observations, actions) -> log q(a|s)


def update(
    pi: policy.Policy,
    q: Q,
    observations: Any,
    noise: Any,
    spec: Spec,
    s: Settings,
    log_prior: Prior | None = None,
) -> tuple[policy.Policy, dict[str, Any]]:
    """The actor descends OptimisticQ-NN plus alpha log pi, or alpha log pi / q where a q is given.

    The paper prints -eta log pi, which would shrink the entropy; see deviations.
    """
    (value, (spread, log_pi)), gradient = jax.value_and_grad(loss, has_aux=True)(
        pi.layers, jnp.exp(pi.log_alpha), q, observations, noise, spec, log_prior
    )
    adam = optax.adam(s.learning_rate)
    steps, optimiser = adam.update(gradient, pi.optimiser)
    layers = optax.apply_updates(pi.layers, steps)
    pi = pi._replace(layers=layers, optimiser=optimiser, updates=pi.updates + 1)
    if s.average_rate:
        average = optax.incremental_update(layers, pi.average, s.average_rate)
        pi = pi._replace(average=average)
    alive = spec.alive(observations) if spec.absorbing else jnp.ones(len(observations), bool)
    entropy = -jnp.sum(log_pi * alive) / jnp.maximum(jnp.sum(alive), 1)
    if s.tune_alpha:
        pi = _tune(pi, entropy, spec, s)
    return pi, {
        "actor_loss": value,
        "entropy": entropy,
        "alpha": jnp.exp(pi.log_alpha),
        "q_spread": jnp.mean(spread),
        "clipped": jnp.mean(spread > s.sigma),
    }


def loss(
    layers: networks.Layers,
    alpha: Any,
    q: Q,
    observations: Any,
    noise: Any,
    spec: Spec,
    log_prior: Prior | None = None,
) -> tuple[Any, tuple[Any, Any]]:
    """E[alpha log pi + Q], or E[alpha log pi / q + Q]; and the spread of Q, and log pi."""
    actions, log_pi = policy.sample(layers, spec, observations, noise)
    optimistic, spread = q(observations, actions)
    entropic = log_pi
    if log_prior is not None:
        # Only through the action: the rest is 0 on average, and noise where pi is near q.
        still = policy.log_prob(jax.lax.stop_gradient(layers), observations, actions)
        entropic = policy.relative(still, log_prior(observations, actions), spec, observations)
    return jnp.mean(alpha * entropic + optimistic), (spread, log_pi)


def _tune(pi: policy.Policy, entropy: Any, spec: Spec, s: Settings) -> policy.Policy:
    """alpha grows while the entropy is below its target."""
    target = s.target_entropy * spec.action
    gradient = jax.grad(lambda log_alpha: log_alpha * (entropy - target))(pi.log_alpha)
    step, optimiser = optax.adam(s.learning_rate).update(gradient, pi.alpha_optimiser)
    return pi._replace(log_alpha=optax.apply_updates(pi.log_alpha, step), alpha_optimiser=optimiser)
