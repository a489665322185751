"""The expert's actions, inferred where only its states are known.

An inverse model a = f(s, s') is fitted to the learner's own transitions and asked what the expert
did between two of its states (as Torabi et al. 2018 do in order to clone it). With these actions
the expert's transitions can be in the minibatches of critics and actor. Where an inferred action is
wrong, the critics expect too low a cost there, the learner goes there, and its data correct them.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from soar_il.bases import fitting
from soar_il.bases.api import Base, Cost, Data, Look
from soar_il.bases.fitting import Fit
from soar_il.networks import mlp
from soar_il.networks.mlp import Layers
from soar_il.types import Array, Batch, Float, Metrics, PRNGKey, Spec

BATCH = 100
ADAM = optax.adam(1e-3)


class Inferred(NamedTuple):
    """The base method's own cost, and f."""

    cost: Cost
    model: Fit
    scale: Float[Array, " s"]  # how far the expert's states move in a step


def inferring(base: Base, hidden: tuple[int, ...], steps_per_step: float) -> Base:
    """The same method, with an inverse model beside it.

    Args:
        base: One that asks for no actions.
        hidden: Sizes of f's hidden layers.
        steps_per_step: Steps of f's Adam for each new environment step.
    """

    def init(key: PRNGKey, spec: Spec, expert: Data) -> Inferred:
        keys = jax.random.split(key)
        layers = mlp.init(keys[1], (2 * spec.observation, *hidden, spec.action))
        batch, held = expert.newest()
        moved = jnp.std(
            batch.next_observations - batch.observations, axis=0, where=held[:, None] > 0
        )
        scale = jnp.where(moved > 1e-6, moved, 1.0)
        model = Fit(layers, ADAM.init(layers))
        return Inferred(base.init(keys[0], spec, expert), model, scale)

    def f(layers: Layers, scale: Array, batch: Batch) -> Array:
        moved = (batch.next_observations - batch.observations) / scale
        x = jnp.concatenate([batch.observations, jnp.clip(moved, -10, 10)], axis=-1)
        return jnp.tanh(mlp.apply(layers, x))

    def once(state: Inferred, data: Data, key: PRNGKey) -> tuple[Inferred, Metrics]:
        batch = data.draw(key, BATCH)

        def loss(layers: Layers) -> tuple[Array, None]:
            return jnp.mean((f(layers, state.scale, batch) - batch.actions) ** 2), None

        model, (error, _) = fitting.descended(ADAM, state.model, loss)
        return state._replace(model=model), {"inverse_error": error}

    def update(
        state: Inferred, expert: Data, data: Data, key: PRNGKey, *log_pi: Callable[..., Array]
    ) -> tuple[Inferred, Metrics]:
        first, second = jax.random.split(key)
        cost, seen = base.update(state.cost, expert, data, first, *log_pi)
        steps = fitting.steps(steps_per_step, data)
        state, more = fitting.repeated(lambda s, k: once(s, data, k), state, steps, second)
        return state._replace(cost=cost), seen | more

    def infer(state: Inferred, batch: Batch) -> Array:
        return f(state.model.layers, state.scale, batch)

    def cost_of(state: Inferred, batch: Batch) -> Array:
        return base.cost(state.cost, batch)

    def critic_loss(state: Inferred, look: Look) -> Array:
        return base.critic_loss(state.cost, look)

    def critic_metrics(state: Inferred, look: Look) -> Metrics:
        return base.critic_metrics(state.cost, look)

    return base._replace(
        init=init,
        update=update,
        cost=cost_of,
        critic_loss=critic_loss,
        critic_metrics=critic_metrics,
        infer_actions=infer,
    )
