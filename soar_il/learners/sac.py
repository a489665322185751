"""SAC with L pairs of critics: lines 7-11 of Algorithm 1 for networks (the paper's Algorithm 6)."""

import dataclasses
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from soar_il import soar
from soar_il.bases.api import Base, Cost
from soar_il.config import check_range, only_read_with
from soar_il.learners import critics, settings
from soar_il.learners.api import Algorithm, Minibatches
from soar_il.learners.critics import Critics, Q, Rule
from soar_il.networks import gaussian
from soar_il.networks.mlp import Layers
from soar_il.rng import Streams
from soar_il.types import Array, Float, Metrics, PRNGKey, Scalar, Spec, Tree

Prior = Callable[[Array, Array], Array] | None  # (states, actions) -> log q(a|s)


@dataclasses.dataclass(frozen=True)
class Settings(settings.Settings):
    """SAC's own settings beside those of every learner.

    Args:
        alpha: The temperature: weight of the policy's entropy (eta in the paper's actor loss).
        tune_alpha: Whether alpha is learned, so that the entropy stays at its target.
        target_entropy: The target (tune_alpha), for each coordinate of the action.
    """

    alpha: float = 0.2
    tune_alpha: bool = False
    target_entropy: float = -1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self, ("alpha",), least=0)
        check_range(self, ("target_entropy",), least=-100, most=100)
        if not self.tune_alpha:
            only_read_with(self, ("target_entropy",), "tune_alpha = true")


class Actor(NamedTuple):
    """pi_psi, its temperature, and their optimisers."""

    layers: Layers  # psi
    optimiser: Tree
    log_alpha: Scalar
    alpha_optimiser: Tree
    average: Layers  # of psi over the updates; empty where psi itself is kept


def init(key: Streams, spec: Spec, s: Settings) -> tuple[Critics, Actor]:
    """Lines 1-2: random networks."""
    layers = gaussian.init(key("policy"), spec, s.hidden)
    log_alpha = jnp.asarray(math.log(max(s.alpha, 1e-30)), jnp.float32)
    adam = optax.adam(s.learning_rate)
    average = jax.tree.map(jnp.copy, layers) if s.average_rate else ()
    actor = Actor(layers, adam.init(layers), log_alpha, adam.init(log_alpha), average)
    return critics.init(key("critics"), spec, s), actor


def started(actor: Actor, layers: Layers, s: Settings) -> Actor:
    """The actor that begins with these layers."""
    average = jax.tree.map(jnp.copy, layers) if actor.average else ()
    optimiser = optax.adam(s.learning_rate).init(layers)
    return actor._replace(layers=layers, optimiser=optimiser, average=average)


def kept(actor: Actor) -> Layers:
    """The average where there is one, as the theory's output is a mixture."""
    return actor.average or actor.layers


def learner(base: Base, spec: Spec, s: Settings) -> soar.Learner:
    """Lines 7-11."""
    rule = critics.rule_of(base, s)

    def log_prior(cost: Cost) -> Prior:
        prior = base.clone and base.clone.log_prior
        return partial(prior, cost) if prior else None

    def least_value(actor: Actor) -> Array | float:
        """No soft cost-to-go is below this: entropy is at most that of the uniform policy."""
        if base.clone and base.clone.log_prior:
            return critics.least_value(base, s)
        entropy = jnp.exp(actor.log_alpha) * spec.action * math.log(2.0)
        return critics.least_value(base, s) - entropy / (1 - s.discount)

    def estimate(
        c: Critics, actor: Actor, cost: Cost, data: Minibatches, key: PRNGKey
    ) -> tuple[Critics, Metrics]:
        draw, noise = jax.random.split(key)
        batch = data.each(draw)
        costs = jax.lax.stop_gradient(base.cost(cost, batch))
        z = jax.random.normal(noise, batch.actions.shape)
        following = soft_value(
            c.targets, actor, batch.next_observations, z, log_prior(cost), spec, s, rule
        )
        least = least_value(actor)
        goal = costs + s.discount * batch.continues * jnp.maximum(following, least)
        outside = jnp.mean(following < least)

        def act(states: Array, z: Array) -> tuple[Array, Array]:
            actions, log_pi = gaussian.sample(actor.layers, spec, states, z)
            return actions, jnp.exp(actor.log_alpha) * log_pi

        def value(layers: Layers, states: Array) -> Array:
            z = jax.random.normal(jax.random.fold_in(noise, 1), (*states.shape[:-1], spec.action))
            actions, soft = act(states, z)
            q = critics.pairs(layers, states, actions, s.layer_norm)
            return q + jnp.expand_dims(soft, -2)

        policy = critics.OfPolicy(value, act, jnp.exp(actor.log_alpha))
        expert, own = data.demonstrations(draw), jax.random.fold_in(noise, 2)
        new, seen = critics.fitted(c, base, cost, goal, batch, s, policy, own, expert)
        return new, {**seen, "cost": jnp.mean(costs), "value_outside": outside}

    def update_policy(
        actor: Actor, q: Q, cost: Cost, data: Minibatches, key: PRNGKey
    ) -> tuple[Actor, Metrics]:
        draw, noise = jax.random.split(key)
        batch = data.shared(draw)
        z = jax.random.normal(noise, batch.actions.shape)
        return update_actor(actor, q, log_prior(cost), batch.observations, z, spec, s, rule)

    return soar.Learner(estimate, partial(critics.combined, rule=rule, s=s), update_policy)


def soft_value(
    targets: Layers,
    actor: Actor,
    states: Float[Array, "L B s"],
    noise: Float[Array, "L B a"],
    log_prior: Prior,
    spec: Spec,
    s: Settings,
    rule: Rule,
) -> Float[Array, "L B"]:
    """Q_targ(s', a') + alpha log pi(a'|s') for a' ~ pi; the paper prints Q_targ at (s, a)."""
    actions, log_pi = gaussian.sample(actor.layers, spec, states, noise)
    if s.optimistic_targets:
        flat = states.reshape(-1, states.shape[-1]), actions.reshape(-1, actions.shape[-1])
        q = critics.optimistic_q(targets, *flat, rule, s.layer_norm)[0].reshape(log_pi.shape)
    else:
        q = critics.estimates(targets, states, actions, s.layer_norm)
    if log_prior is not None:
        log_pi = gaussian.relative(log_pi, log_prior(states, actions), spec, states)
    return q + jnp.exp(actor.log_alpha) * log_pi


def update_actor(
    actor: Actor,
    q: Q,
    log_prior: Prior,
    observations: Float[Array, "B s"],
    noise: Float[Array, "B a"],
    spec: Spec,
    s: Settings,
    rule: Rule,
) -> tuple[Actor, Metrics]:
    """Line 11: one Adam step on alpha log pi + Q, and one of a tuned temperature.

    Where a log q is given the entropy is relative to q. The paper prints -eta log pi, which would
    shrink the entropy; see deviations.
    """
    (value, (spread, log_pi)), gradient = jax.value_and_grad(actor_loss, has_aux=True)(
        actor.layers, jnp.exp(actor.log_alpha), q, log_prior, observations, noise, spec
    )
    steps, optimiser = optax.adam(s.learning_rate).update(gradient, actor.optimiser)
    layers = optax.apply_updates(actor.layers, steps)
    actor = actor._replace(layers=layers, optimiser=optimiser)
    if s.average_rate:
        average = optax.incremental_update(layers, actor.average, s.average_rate)
        actor = actor._replace(average=average)
    alive = spec.alive(observations) if spec.absorbing else jnp.ones(len(observations), bool)
    entropy = -jnp.sum(log_pi * alive) / jnp.maximum(jnp.sum(alive), 1)
    if s.tune_alpha:
        actor = _tune(actor, entropy, spec, s)
    return actor, {
        "actor_loss": value,
        "entropy": entropy,
        "alpha": jnp.exp(actor.log_alpha),
        "q_spread": jnp.mean(spread),
        "clipped": jnp.mean(spread > rule.limit(spread)),
    }


def actor_loss(
    layers: Layers,
    alpha: Scalar,
    q: Q,
    log_prior: Prior,
    observations: Float[Array, "B s"],
    noise: Float[Array, "B a"],
    spec: Spec,
) -> tuple[Scalar, tuple[Array, Array]]:
    """E[alpha log pi + Q], or E[alpha log pi / q + Q]; and the spread of Q, and log pi."""
    actions, log_pi = gaussian.sample(layers, spec, observations, noise)
    optimistic, spread = q(observations, actions)
    entropic = log_pi
    if log_prior is not None:
        # Only through the action: the rest is 0 on average, and noise where pi is near q.
        still = gaussian.log_prob(jax.lax.stop_gradient(layers), observations, actions)
        prior = log_prior(observations, actions)
        entropic = gaussian.relative(still, prior, spec, observations)
    return jnp.mean(alpha * entropic + optimistic), (spread, log_pi)


def _tune(actor: Actor, entropy: Scalar, spec: Spec, s: Settings) -> Actor:
    """alpha grows while the entropy is below its target."""
    target = s.target_entropy * spec.action
    gradient = jax.grad(lambda log_alpha: log_alpha * (entropy - target))(actor.log_alpha)
    step, optimiser = optax.adam(s.learning_rate).update(gradient, actor.alpha_optimiser)
    log_alpha = optax.apply_updates(actor.log_alpha, step)
    return actor._replace(log_alpha=log_alpha, alpha_optimiser=optimiser)


SAC = Algorithm(Settings, init, learner, started, acting=lambda actor: actor.layers, kept=kept)
