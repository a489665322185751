"""The expert's actions, inferred where only its states are known.

An inverse model a = f(s, s') is fitted to the learner's own transitions and asked what the expert
did between two of its states (as Torabi et al. 2018 do in order to clone it). With these actions
the expert's transitions can be in the minibatches of critics and actor. Where an action is wrong,
they promise the learner too much there, and it will go and see.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from soar_il.bases import fitting
from soar_il.bases.api import Base, Data, Metrics
from soar_il.deep import networks
from soar_il.types import Batch, Spec

BATCH = 100
ADAM = optax.adam(1e-3)


class Inferred(NamedTuple):
    """The base method's own state, and f with its Adam."""

    cost: Any
    layers: networks.Layers
    optimiser: Any
    scale: Any  # [d_s] how far the expert's states move in a step


def inferring(
    base: Base, share: float, hidden: tuple[int, ...], steps: Callable[[Data], Any]
) -> Base:
    """The same method, with a share of inferred expert transitions in every minibatch.

    Args:
        base: One that asks for no actions.
        share: The part of every minibatch that is the expert's; at 0 nothing is inferred.
        hidden: Sizes of f's hidden layers.
        steps: Of f's Adam, in an iteration that brought these data.
    """
    if not share:
        return base

    def init(key: Any, spec: Spec, expert: Data) -> Inferred:
        keys = jax.random.split(key)
        layers = networks.init(keys[1], (2 * spec.observation, *hidden, spec.action))
        batch, held = expert.newest()
        moved = jnp.std(
            batch.next_observations - batch.observations, axis=0, where=held[:, None] > 0
        )
        scale = jnp.where(moved > 1e-6, moved, 1.0)
        return Inferred(base.init(keys[0], spec, expert), layers, ADAM.init(layers), scale)

    def f(layers: networks.Layers, scale: Any, batch: Batch) -> Any:
        moved = (batch.next_observations - batch.observations) / scale
        x = jnp.concatenate([batch.observations, jnp.clip(moved, -10, 10)], axis=-1)
        return jnp.tanh(networks.apply(layers, x))

    def once(state: Inferred, data: Data, key: Any) -> tuple[Inferred, Metrics]:
        batch = data.draw(key, BATCH)

        def loss(layers: networks.Layers) -> Any:
            return jnp.mean((f(layers, state.scale, batch) - batch.actions) ** 2)

        error, gradient = jax.value_and_grad(loss)(state.layers)
        step, optimiser = ADAM.update(gradient, state.optimiser)
        layers = optax.apply_updates(state.layers, step)
        return state._replace(layers=layers, optimiser=optimiser), {"inverse_error": error}

    def update(state: Inferred, expert: Data, data: Data, key: Any) -> tuple[Inferred, Metrics]:
        first, second = jax.random.split(key)
        cost, seen = base.update(state.cost, expert, data, first)
        state, more = fitting.repeated(lambda s, k: once(s, data, k), state, steps(data), second)
        return state._replace(cost=cost), seen | more

    def actions(state: Inferred, batch: Batch) -> Any:
        return f(state.layers, state.scale, batch)

    def cost_of(state: Inferred, batch: Batch) -> Any:
        return base.cost(state.cost, batch)

    return base._replace(
        init=init, update=update, cost=cost_of, expert_share=share, actions=actions
    )
