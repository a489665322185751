"""TD3 (Fujimoto et al. 2018) with L pairs of critics: lines 7-11 without an entropy.

Actions are the deterministic ones, a little noise added where critics are backed up and where
trajectories are collected; the actor moves at every ``delay``-th update of the critics.
"""

import dataclasses
import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from soar_il import soar
from soar_il.bases.api import Base, Cost
from soar_il.config import check_range
from soar_il.errors import ConfigError
from soar_il.learners import critics, settings
from soar_il.learners.api import Algorithm, Minibatches
from soar_il.learners.critics import Critics, Q, Rule
from soar_il.networks import gaussian, mlp
from soar_il.networks.mlp import Layers
from soar_il.rng import Streams
from soar_il.types import Array, Bool, Count, Float, Metrics, PRNGKey, Scalar, Spec, Tree


@dataclasses.dataclass(frozen=True)
class Settings(settings.Settings):
    """TD3's own settings beside those of every learner.

    Args:
        delay: Updates of the critics for one of the actor and of all targets.
        target_noise: Standard deviation of the noise on the next action, where critics are backed
            up ...
        noise_clip: ... and the most that it may be.
        exploration: Standard deviation, before squashing, of the noise on the actions that are
            collected.
    """

    delay: int = 2
    target_noise: float = 0.2
    noise_clip: float = 0.5
    exploration: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self, ("delay",), least=1)
        check_range(self, ("target_noise", "noise_clip"), least=0)
        check_range(self, ("exploration",), above=0)


class Actor(NamedTuple):
    """mu_psi and its target: networks that give the mean alone, before squashing."""

    layers: Layers  # psi
    targets: Layers
    optimiser: Tree
    updates: Count  # of the critics so far
    log_std: Scalar  # of exploration
    average: Layers  # of psi over the updates; empty where psi itself is kept


def init(key: Streams, spec: Spec, s: Settings) -> tuple[Critics, Actor]:
    """Lines 1-2: random networks."""
    layers = mlp.init(key("policy"), (spec.observation, *s.hidden, spec.action))
    log_std = jnp.asarray(math.log(s.exploration), jnp.float32)
    actor = Actor((), (), (), jnp.int32(0), log_std, ())
    return critics.init(key("critics"), spec, s), begun(actor, layers, s)


def begun(actor: Actor, layers: Layers, s: Settings) -> Actor:
    """The actor with these layers, its target and its average the same."""
    targets, average = jax.tree.map(jnp.copy, (layers, layers if s.average_rate else ()))
    optimiser = optax.adam(s.learning_rate).init(layers)
    return actor._replace(layers=layers, targets=targets, optimiser=optimiser, average=average)


def started(actor: Actor, layers: Layers, s: Settings) -> Actor:
    """The actor that begins with the mean of this squashed Gaussian."""
    w, b = layers[-1]
    size = b.shape[-1] // 2
    return begun(actor, (*layers[:-1], (w[..., :size], b[..., :size])), s)


def as_gaussian(layers: Layers, log_std: Scalar) -> Layers:
    """The same mean with a log standard deviation that no state changes."""
    w, b = layers[-1]
    w = jnp.concatenate([w, jnp.zeros_like(w)], axis=-1)
    b = jnp.concatenate([b, jnp.broadcast_to(log_std, b.shape)], axis=-1)
    return (*layers[:-1], (w, b))


def acting(actor: Actor) -> Layers:
    """What collects: mu with noise."""
    return as_gaussian(actor.layers, actor.log_std)


def kept(actor: Actor) -> Layers:
    """The average where there is one."""
    return as_gaussian(actor.average or actor.layers, actor.log_std)


def mu(layers: Layers, spec: Spec, states: Float[Array, "*B s"]) -> Float[Array, "*B a"]:
    """The deterministic action; in the absorbing state the only one, zeros."""
    actions = jnp.tanh(mlp.apply(layers, states))
    return alive_only(actions, spec, states)


def alive_only(
    actions: Float[Array, "*B a"], spec: Spec, states: Float[Array, "*B s"]
) -> Float[Array, "*B a"]:
    """The same actions, zeros in the absorbing state."""
    return jnp.where(spec.alive(states)[..., None], actions, 0.0) if spec.absorbing else actions


def smoothed(
    layers: Layers,
    spec: Spec,
    states: Float[Array, "*B s"],
    noise: Float[Array, "*B a"],
    s: Settings,
) -> Float[Array, "*B a"]:
    """mu_targ(s') with clipped noise: critics are to be alike at like actions."""
    clipped = jnp.clip(s.target_noise * noise, -s.noise_clip, s.noise_clip)
    actions = jnp.clip(mu(layers, spec, states) + clipped, -1.0, 1.0)
    return alive_only(actions, spec, states)


def due(updates: Count, s: Settings) -> Bool[Array, ""]:
    """Whether this update of the critics, counted from 0, is one of the actor too."""
    return (updates + 1) % s.delay == 0


def learner(base: Base, spec: Spec, s: Settings) -> soar.Learner:
    """Lines 7-11."""
    if base.clone is not None and base.clone.log_prior is not None:
        raise ConfigError(
            "this base method holds the policy to a clone by its entropy, and td3 has none",
            do="give algorithm = sac",
        )

    rule = critics.rule_of(base, s)

    def estimate(
        c: Critics, actor: Actor, cost: Cost, data: Minibatches, key: PRNGKey
    ) -> tuple[Critics, Metrics]:
        draw, noise = jax.random.split(key)
        batch = data.each(draw)
        costs = jax.lax.stop_gradient(base.cost(cost, batch))
        following = value_of_targets(
            c.targets, actor, batch.next_observations, noise, spec, s, rule
        )
        least = critics.least_value(base, s)
        goal = costs + s.discount * batch.continues * jnp.maximum(following, least)
        outside = jnp.mean(following < least)

        def act(states: Array, z: Array) -> tuple[Array, Array]:
            actions, _ = gaussian.sample(acting(actor), spec, states, z)
            return actions, jnp.zeros(actions.shape[:-1])

        def value(layers: Layers, states: Array) -> Array:
            actions = mu(actor.layers, spec, states)
            return critics.pairs(layers, states, actions, s.layer_norm)

        policy = critics.OfPolicy(value, act, 0.0)
        expert, own = data.demonstrations(draw), jax.random.fold_in(noise, 2)
        new, seen = critics.fitted(c, base, cost, goal, batch, s, policy, own, expert)
        targets = where(due(actor.updates, s), new.targets, c.targets)
        seen = {**seen, "cost": jnp.mean(costs), "value_outside": outside}
        return new._replace(targets=targets), seen

    def update_policy(
        actor: Actor, q: Q, cost: Cost, data: Minibatches, key: PRNGKey
    ) -> tuple[Actor, Metrics]:
        return update_actor(actor, q, data.shared(key).observations, spec, s, rule)

    return soar.Learner(estimate, partial(critics.combined, rule=rule, s=s), update_policy)


def value_of_targets(
    targets: Layers,
    actor: Actor,
    states: Float[Array, "L B s"],
    key: PRNGKey,
    spec: Spec,
    s: Settings,
    rule: Rule,
) -> Float[Array, "L B"]:
    """Q_targ(s', a') for the smoothed a' of the actor's target."""
    noise = jax.random.normal(key, (*states.shape[:-1], spec.action))
    actions = smoothed(actor.targets, spec, states, noise, s)
    if not s.optimistic_targets:
        return critics.estimates(targets, states, actions, s.layer_norm)
    flat = states.reshape(-1, states.shape[-1]), actions.reshape(-1, actions.shape[-1])
    q = critics.optimistic_q(targets, *flat, rule, s.layer_norm)[0]
    return q.reshape(states.shape[:-1])


def update_actor(
    actor: Actor, q: Q, states: Float[Array, "B s"], spec: Spec, s: Settings, rule: Rule
) -> tuple[Actor, Metrics]:
    """Line 11, where it is due: one Adam step on Q(s, mu(s)), and the targets follow."""

    def loss(layers: Layers) -> tuple[Scalar, Array]:
        optimistic, spread = q(states, mu(layers, spec, states))
        return jnp.mean(optimistic), spread

    def move(actor: Actor) -> tuple[Actor, tuple[Scalar, Array]]:
        seen, gradient = jax.value_and_grad(loss, has_aux=True)(actor.layers)
        steps, optimiser = optax.adam(s.learning_rate).update(gradient, actor.optimiser)
        layers = optax.apply_updates(actor.layers, steps)
        targets = optax.incremental_update(layers, actor.targets, s.target_rate)
        return actor._replace(layers=layers, targets=targets, optimiser=optimiser), seen

    def stay(actor: Actor) -> tuple[Actor, tuple[Scalar, Array]]:
        return actor, loss(actor.layers)

    now = due(actor.updates, s)
    actor, (value, spread) = jax.lax.cond(now, move, stay, actor)
    if s.average_rate:
        average = optax.incremental_update(actor.layers, actor.average, s.average_rate)
        actor = actor._replace(average=average)
    return actor._replace(updates=actor.updates + 1), {
        "actor_loss": value,
        "q_spread": jnp.mean(spread),
        "clipped": jnp.mean(spread > rule.limit(spread)),
    }


def where(yes: Bool[Array, ""], one: Tree, other: Tree) -> Tree:
    """One tree or the other."""
    return jax.tree.map(lambda a, b: jnp.where(yes, a, b), one, other)


TD3 = Algorithm(Settings, init, learner, started, acting=acting, kept=kept)
