"""What base methods share: bounded costs, a slope they are held to, and steps in a loop."""

from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp

from soar_il.bases.api import Data, Metrics

Squash = Literal["tanh", "clamp"]


def bounded(x: Any, bound: float, squash: Squash) -> Any:
    """Within +-bound: by a tanh, or by a clamp, which stops the gradient where it acts."""
    x = x / bound
    return bound * (jnp.tanh(x) if squash == "tanh" else jnp.clip(x, -1.0, 1.0))


def slope_error(f: Callable[[Any], Any], x: Any, slope: float) -> Any:
    """The gradient penalty: mean of (|grad f| - slope)^2 at the rows of x."""
    gradient = jax.grad(lambda x: jnp.sum(f(x)))(x)
    length = jnp.sqrt(jnp.sum(gradient**2, axis=-1) + 1e-12)
    return jnp.mean((length - slope) ** 2)


def steps(fixed: int, per_step: float, data: Data) -> Any:
    """Steps of an optimiser: so many an iteration, or for each environment step where not 0."""
    if not per_step:
        return jnp.int32(fixed)
    return jnp.maximum(1, jnp.round(per_step * data.new_steps).astype(jnp.int32))


def repeated(
    once: Callable[[Any, Any], tuple[Any, Metrics]], state: Any, steps: Any, key: Any
) -> tuple[Any, Metrics]:
    """``once(state, key)`` so many times; metrics are means."""

    def body(n: Any, carry: Any) -> Any:
        state, sums = carry
        state, seen = once(state, jax.random.fold_in(key, n))
        return state, jax.tree.map(jnp.add, sums, seen)

    shapes = jax.eval_shape(once, state, key)[1]
    zeros = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
    state, sums = jax.lax.fori_loop(0, steps, body, (state, zeros))
    return state, jax.tree.map(lambda x: x / steps, sums)
