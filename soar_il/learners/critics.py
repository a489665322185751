"""UpdateCritics and OptimisticQ-NN: L pairs of critics as one stack of 2L networks."""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, NoReturn

import jax
import jax.numpy as jnp
import optax

from soar_il import optimism
from soar_il.bases.api import Base, Cost, Look
from soar_il.bases.fitting import repeated
from soar_il.errors import ConfigError
from soar_il.learners.settings import Settings
from soar_il.networks import mlp
from soar_il.networks.mlp import Layers
from soar_il.terminal.phases import phase
from soar_il.types import Array, Batch, Float, Metrics, PRNGKey, Spec, Transitions, Tree

Q = Callable[[Array, Array], tuple[Array, Array]]  # (states, actions) -> optimistic Q, spread


class OfPolicy(NamedTuple):
    """What a loss of the critics may compute with the policy; see ``Look``."""

    value: Callable[[Layers, Array], Array]  # (layers of critics, states) -> [L, 2, B]
    act: Callable[[Array, Array], tuple[Array, Array]]
    alpha: Array | float


class Rule(NamedTuple):
    """How estimates become one: OptimisticQ-NN and what may be different in it."""

    sigma: float
    relative: bool = False  # sigma counts mean spreads of the minibatch
    smooth: bool = False
    singles: bool = False

    def limit(self, spread: Array) -> float | Array:
        """What the standard deviation is clipped at."""
        return self.sigma * jnp.mean(spread) if self.relative else self.sigma


class Critics(NamedTuple):
    """theta_ell^(1), theta_ell^(2) at places 2 ell and 2 ell + 1 of the stack."""

    layers: Layers
    targets: Layers
    optimiser: Tree


def init(key: PRNGKey, spec: Spec, s: Settings) -> Critics:
    """Random critics. Targets start as copies, in the paper at random (docs/deviations.md)."""
    sizes = (spec.observation + spec.action, *s.hidden, 1)
    layers = mlp.init(key, sizes, (2 * s.critics,))
    targets = jax.tree.map(jnp.copy, layers)
    return Critics(layers, targets, optax.adam(s.learning_rate).init(layers))


def pairs(
    layers: Layers,
    observations: Float[Array, "*LB s"],
    actions: Float[Array, "*LB a"],
    norm: bool = False,
) -> Float[Array, "L 2 B"]:
    """Both members of every pair, on shared inputs [B, d] or a minibatch each [L, B, d]."""
    x = jnp.concatenate([observations, actions], axis=-1)
    if x.ndim == 3:
        x = jnp.repeat(x, 2, axis=0)
    q = mlp.apply(layers, x, activation(norm))[..., 0]
    return q.reshape(-1, 2, q.shape[-1])


def each(
    layers: Layers,
    observations: Float[Array, "*m B s"],
    actions: Float[Array, "*n B a"],
    norm: bool = False,
) -> Float[Array, "two_L B"]:
    """All 2L critics on shared inputs [B, d] or on inputs of their own [2L, B, d]."""
    shape = (*actions.shape[:-1], observations.shape[-1])
    x = jnp.concatenate([jnp.broadcast_to(observations, shape), actions], axis=-1)
    return mlp.apply(layers, x, activation(norm))[..., 0]


def estimates(
    layers: Layers,
    observations: Float[Array, "*LB s"],
    actions: Float[Array, "*LB a"],
    norm: bool = False,
) -> Float[Array, "L B"]:
    """Q_ell = max of its pair: the larger cost is the cautious one."""
    return jnp.max(pairs(layers, observations, actions, norm), axis=1)


def joined(
    layers: Layers,
    observations: Float[Array, "*LB s"],
    actions: Float[Array, "*LB a"],
    rule: Rule,
    norm: bool = False,
) -> Float[Array, "n B"]:
    """What the rule makes one of: the L pairs' larger members, or all 2 L critics."""
    if not rule.singles:
        return estimates(layers, observations, actions, norm)
    x = pairs(layers, observations, actions, norm)
    return x.reshape(-1, x.shape[-1])


def optimistic_q(
    layers: Layers,
    observations: Float[Array, "B s"],
    actions: Float[Array, "B a"],
    rule: Rule,
    norm: bool = False,
) -> tuple[Float[Array, " B"], Float[Array, " B"]]:
    """OptimisticQ-NN, and the standard deviation that it clips."""
    x = joined(layers, observations, actions, rule, norm)
    spread = jnp.std(jax.lax.stop_gradient(x), axis=0)
    return optimism.mean_minus_clipped_std(x, rule.limit(spread), rule.smooth), spread


def rule_of(base: Base, s: Settings) -> Rule:
    """The rule that the settings ask for; "bound" needs a cost that has one."""
    sigma = s.sigma
    if s.sigma_in == "bound":
        if not math.isfinite(base.least_cost):
            do = "give sigma_in = cost-to-go or spread: the cost of this method has no bound"
            raise ConfigError("sigma_in is bound", do=do)
        sigma *= abs(least_value(base, s))
    return Rule(sigma, s.sigma_in == "spread", s.smooth_clip, s.single_critics)


def combined(critics: Critics, cost: Cost, rule: Rule, s: Settings) -> tuple[Critics, Q]:
    """Line 10: the optimistic Q of all pairs, as a function."""

    def q(
        states: Float[Array, "B s"], actions: Float[Array, "B a"]
    ) -> tuple[Float[Array, " B"], Float[Array, " B"]]:
        return optimistic_q(critics.layers, states, actions, rule, s.layer_norm)

    return critics, q


def fitted(
    critics: Critics,
    base: Base,
    cost: Cost,
    goal: Float[Array, "L B"],
    batch: Transitions,
    s: Settings,
    policy: OfPolicy,
    key: PRNGKey,
    expert: Batch | None,
) -> tuple[Critics, Metrics]:
    """Lines 7-9: one step of all critics on the base method's loss."""
    loss, watch = partial(base.critic_loss, cost), partial(base.critic_metrics, cost)
    return towards(critics, goal, batch, loss, s, policy, key, expert, watch)


def towards(
    critics: Critics,
    goal: Float[Array, "L B"],
    batch: Transitions,
    loss: Callable[[Look], Array],
    s: Settings,
    policy: OfPolicy,
    key: PRNGKey,
    expert: Batch | None,
    watch: Callable[[Look], Metrics] = lambda look: {},
) -> tuple[Critics, Metrics]:
    """One Adam step of all critics on ``loss``, then the targets follow."""

    def total(layers: Layers) -> tuple[Array, Metrics]:
        look = Look(
            q=pairs(layers, batch.observations, batch.actions, s.layer_norm),
            goal=goal,
            critics=lambda states, actions: each(layers, states, actions, s.layer_norm),
            value=lambda states: policy.value(layers, states),
            act=policy.act,
            alpha=policy.alpha,
            key=key,
            batch=batch,
            expert=expert,
            discount=s.discount,
        )
        error = jnp.mean((look.q - goal[:, None]) ** 2, axis=-1)
        return loss(look), {"critic_loss": jnp.mean(error), "q": jnp.mean(look.q), **watch(look)}

    gradient, seen = jax.grad(total, has_aux=True)(critics.layers)
    steps, optimiser = optax.adam(s.learning_rate).update(gradient, critics.optimiser)
    layers = optax.apply_updates(critics.layers, steps)
    targets = optax.incremental_update(layers, critics.targets, s.target_rate)
    return Critics(layers, targets, optimiser), seen


def activation(norm: bool) -> mlp.Activation:
    """Of the critics' hidden layers."""
    return mlp.normed_relu if norm else jax.nn.relu


def least_value(base: Base, s: Settings) -> float:
    """No cost-to-go is below this."""
    return base.least_cost / (1 - s.discount)


def of_the_expert(
    critics: Critics, base: Base, cost: Cost, expert: Tree, key: PRNGKey, s: Settings, steps: int
) -> Critics:
    """Critics fitted to the demonstrations: to c(s, a) + gamma Q_targ(s', a'), a' the expert's."""

    def once(critics: Critics, key: PRNGKey) -> tuple[Critics, Metrics]:
        batch, following, known = expert.draw_pairs(key, s.batch, s.critics)
        q = estimates(critics.targets, batch.next_observations, following, s.layer_norm)
        value = jnp.maximum(q, least_value(base, s))
        goal = base.cost(cost, batch) + s.discount * batch.continues * value
        current = estimates(critics.layers, batch.observations, batch.actions, s.layer_norm)
        goal = jnp.where(known, goal, jax.lax.stop_gradient(current))
        shown = expert.draw(jax.random.fold_in(key, 1), s.batch)

        def loss(look: Look) -> Array:
            return base.critic_loss(cost, look)

        return towards(critics, goal, batch, loss, s, no_policy, key, shown)

    no_policy = OfPolicy(none_yet, none_yet, 0.0)
    phase(f"critics of the expert: {steps:,} steps")
    return repeated(once, critics, jnp.int32(steps), key)[0]


def none_yet(*given: object) -> NoReturn:
    """Before the first episode there is no policy."""
    raise ValueError("the loss of the critics needs a policy, and there is none yet")
