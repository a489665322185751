"""CSIL (Watson et al. 2023): a clone of the expert is made once, and its log-density is the reward.

Algorithm 10 of the paper is ``plain``: c(s, a) = -log pi_BC(a|s), and nothing else; what more it
may take from the authors are options. ``make`` is the method as they built it: away from the
demonstrations the clone is a prior, so its density says nothing there; the policy starts from the
clone and is held to it; the critics start from the demonstrations and see them in every minibatch.
"""

import dataclasses
import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from soar_il.bases import fitting, reversion
from soar_il.bases.api import Base, Data, Metrics, Needs
from soar_il.deep import networks, policy
from soar_il.errors import ConfigError
from soar_il.types import Batch, Spec

FLOOR = 0.5 * math.log(1e-5)  # of the clone's log std: bounds the reward from above
MOST = -FLOOR + math.log(2.0)  # reward of one action coordinate
PRIOR = 0.75  # variance before squashing: then nearly uniform
LEAST = -30.0  # of log pi_BC where the policy is held to it; far away it could be anything


@dataclasses.dataclass(frozen=True)
class Settings:
    """How the clone is made and used.

    Args:
        steps: Adam steps of the cloning.
        learning_rate: Of its Adam.
        weight_decay: L2 on the clone's weights.
        batch: Pairs in a minibatch.
        hidden: Sizes of its hidden layers; the actor's, where it starts from the clone.
        bound: No cost is further from zero.
        centres: Demonstrated states that measure how far a state is from all of them.
        level: How much of the prior is left at demonstrated states that are no centres.
        faithful: Whether the clone's mean is fitted by squared error; read by ``plain`` only ...
        anchored: ... and so is this: whether the actor starts as the clone and is held to it.
        expert_share: Part of each minibatch that is the expert's.
        critic_steps: Steps of the critics on the demonstrations, before the first episode.
        action_slope: Weight of the root mean square of |dQ/da| at the expert's pairs ...
        slope_batch: ... so many of them an update.
        refine: Step size of the reward's refinement on the learner's data; 0 for none.
    """

    steps: int = 20_000
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    batch: int = 256
    hidden: tuple[int, ...] = (256, 256)
    bound: float = 10.0
    centres: int = 256
    level: float = 0.05
    faithful: bool = True
    anchored: bool = True
    expert_share: float = 0.5
    critic_steps: int = 5_000
    action_slope: float = 1.0
    slope_batch: int = 16
    refine: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))  # a list would not hash
        if not (self.steps > 0 and self.learning_rate > 0 and self.batch > 0 and self.centres > 0):
            raise ConfigError(
                f"steps {self.steps}, learning_rate {self.learning_rate}, batch {self.batch}, "
                f"centres {self.centres}",
                do="give positive numbers",
            )
        if not 0 <= self.expert_share < 1:
            raise ConfigError(f"expert_share is {self.expert_share}", do="give one in [0, 1)")


class Clone(NamedTuple):
    """pi_BC, the reward's own copy of it, and where it is worth anything."""

    layers: networks.Layers  # what the actor starts from and is held to
    judge: networks.Layers  # whose log-density is the reward; refinement may change it
    reversion: reversion.Reversion | None  # plain: none


def cloned(key: Any, spec: Spec, expert: Data, s: Settings, faithful: bool) -> networks.Layers:
    """Behavioural cloning of a squashed Gaussian.

    Faithful: the mean minimises its squared error, and only the standard deviation the negative
    log-likelihood, on features that it does not change. Otherwise both maximise the likelihood.
    """
    first, rest = jax.random.split(key)
    layers = networks.init(first, (spec.observation, *s.hidden, 2 * spec.action))
    adam = optax.chain(optax.add_decayed_weights(s.weight_decay), optax.adam(s.learning_rate))

    def loss(layers: networks.Layers, batch: Batch) -> Any:
        if not faithful:
            return -jnp.mean(policy.log_prob(layers, batch.observations, batch.actions))
        features = networks.features(layers, batch.observations)
        mean, _ = policy.heads(layers[-1], features)
        _, log_std = policy.heads(layers[-1], jax.lax.stop_gradient(features))
        density = policy.squashed_log_prob(jax.lax.stop_gradient(mean), log_std, batch.actions)
        error = jnp.sum((jnp.tanh(mean) - batch.actions) ** 2, axis=-1)
        return jnp.mean(error - density)

    def once(state: Any, key: Any) -> tuple[Any, Metrics]:
        layers, optimiser = state
        value, gradient = jax.value_and_grad(loss)(layers, expert.draw(key, s.batch))
        step, optimiser = adam.update(gradient, optimiser, layers)
        return (optax.apply_updates(layers, step), optimiser), {"cloning": value}

    start = layers, adam.init(layers)
    return jax.jit(partial(fitting.repeated, once))(start, jnp.int32(s.steps), rest)[0][0]


def log_density(clone: Clone, layers: networks.Layers, states: Any, actions: Any) -> Any:
    """log q(a|s): the clone's where demonstrations are, the prior's where none is."""
    mean, log_std = policy.moments(layers, states)
    if clone.reversion is None:
        return policy.squashed_log_prob(mean, log_std, actions)
    away = reversion.left(clone.reversion, states)[..., None]
    log_std = (1 - away) * jnp.maximum(log_std, FLOOR) + away * 0.5 * math.log(PRIOR)
    return policy.squashed_log_prob((1 - away) * mean, log_std, actions)


def plain(settings: Settings) -> Base:
    """Algorithm 10: c(s, a) = -log pi_BC(a|s), fixed."""
    s = settings

    def init(key: Any, spec: Spec, expert: Data) -> Clone:
        layers = cloned(key, spec, expert, s, s.faithful)
        return Clone(layers, layers, None)

    def cost_of(clone: Clone, batch: Batch) -> Any:
        density = log_density(clone, clone.judge, batch.observations, batch.actions)
        return jnp.clip(-density, -s.bound, s.bound)

    return Base(
        Needs(actions=True, on_policy=False),
        init,
        unchanged(cost_of, s.batch),
        cost_of,
        start=started if s.anchored else None,
        log_prior=held_to if s.anchored else None,
        expert_share=s.expert_share,
        critic_term=flat(s) if s.action_slope else None,
        critic_steps=s.critic_steps,
        least_cost=-s.bound,
    )


def make(settings: Settings) -> Base:
    """CSIL as its authors built it; with SOAR its critic becomes L pairs."""
    s = settings

    def init(key: Any, spec: Spec, expert: Data) -> Clone:
        layers = cloned(key, spec, expert, s, faithful=True)
        keys = jax.random.split(jax.random.fold_in(key, 1))
        centres, others = (expert.draw(k, s.centres).observations for k in keys)
        return Clone(layers, layers, reversion.fit(centres, others, s.level))

    def worth(clone: Clone, layers: networks.Layers, batch: Batch) -> Any:
        """(log q - log uniform) / dimensions of the action."""
        size = batch.actions.shape[-1]
        density = log_density(clone, layers, batch.observations, batch.actions)
        return jnp.clip(density / size + math.log(2.0), -s.bound, MOST)

    def cost_of(clone: Clone, batch: Batch) -> Any:
        return -worth(clone, clone.judge, batch)

    def refined(clone: Clone, expert: Data, data: Data, key: Any) -> tuple[Clone, Metrics]:
        """Demonstrations gain, the learner's pairs lose what they have too much."""
        keys = jax.random.split(key)
        theirs, ours = expert.draw(keys[0], s.batch), data.draw(keys[1], s.batch)

        def loss(layers: networks.Layers) -> tuple[Any, Any]:
            theirs_r, ours_r = worth(clone, layers, theirs), worth(clone, layers, ours)
            gap = jnp.mean(theirs_r) - jnp.mean(ours_r)
            return jnp.mean(jnp.exp(-jnp.maximum(ours_r, -5.0)) - 1) - gap, gap

        (_, gap), gradient = jax.value_and_grad(loss, has_aux=True)(clone.judge)
        moved = jax.tree.map(lambda x, g: x - s.refine * g, clone.judge, gradient)
        return clone._replace(judge=moved), {"cost_gap": gap}

    def update(clone: Clone, expert: Data, data: Data, key: Any) -> tuple[Clone, Metrics]:
        if not s.refine:
            return unchanged(cost_of, s.batch)(clone, expert, data, key)
        steps = fitting.steps(1, 1.0, data)
        return fitting.repeated(lambda c, k: refined(c, expert, data, k), clone, steps, key)

    return Base(
        Needs(actions=True, on_policy=False),
        init,
        update,
        cost_of,
        start=started,
        log_prior=held_to,
        expert_share=s.expert_share,
        critic_term=flat(s) if s.action_slope else None,
        critic_steps=s.critic_steps,
        least_cost=-MOST,
    )


def started(clone: Clone) -> networks.Layers:
    return clone.layers


def held_to(clone: Clone, states: Any, actions: Any) -> Any:
    """log pi_BC(a|s) as the network has it, also where the reward's q is back at its prior."""
    mean, log_std = policy.moments(clone.layers, states)
    density = policy.squashed_log_prob(mean, jnp.maximum(log_std, FLOOR), actions)
    return jnp.maximum(density, LEAST)


def flat(s: Settings) -> Callable[[Callable[[Any, Any], Any], int, Batch], Any]:
    """Root mean square of |dQ/da| at the expert's pairs, of every critic, summed."""

    def term(q: Callable[[Any, Any], Any], n: int, batch: Batch) -> Any:
        states, actions = batch.observations[: s.slope_batch], batch.actions[: s.slope_batch]
        own = jnp.broadcast_to(actions, (n, *actions.shape))  # so that gradients do not mix
        slopes = jax.grad(lambda a: jnp.sum(q(states, a)))(own)
        return s.action_slope * jnp.sum(jnp.sqrt(jnp.mean(jnp.sum(slopes**2, -1), -1) + 1e-12))

    return term


def unchanged(cost_of: Callable[[Clone, Batch], Any], n: int) -> Callable[..., Any]:
    """The cost is fixed; what an iteration tells is how far apart learner and expert are."""

    def update(clone: Clone, expert: Data, data: Data, key: Any) -> tuple[Clone, Metrics]:
        theirs, ours = (cost_of(clone, x.draw(key, n)) for x in (expert, data))
        return clone, {"cost_gap": jnp.mean(ours) - jnp.mean(theirs)}

    return update
