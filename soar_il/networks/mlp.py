"""Multi-layer perceptrons as plain arrays, alone or as a stack of n evaluated at once."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np

from soar_il.policy.forward import NORM_EPSILON
from soar_il.types import Array, Float, PRNGKey

Weights = Array | np.ndarray
Layer = tuple[Weights, Weights]  # weights [(n,) in, out] and biases [(n,) out]
Layers = tuple[Layer, ...]
Activation = Callable[[Array], Array]


def init(key: PRNGKey, sizes: Sequence[int], stack: tuple[int, ...] = ()) -> Layers:
    """Uniform within 1/sqrt(in), weights and biases, as the implementations of SAC we follow."""
    layers = []
    for n, (inputs, outputs) in enumerate(pairwise(sizes)):
        w_key, b_key = jax.random.split(jax.random.fold_in(key, n))
        bound = inputs**-0.5
        w = jax.random.uniform(w_key, (*stack, inputs, outputs), jnp.float32, -bound, bound)
        b = jax.random.uniform(b_key, (*stack, outputs), jnp.float32, -bound, bound)
        layers.append((w, b))
    return tuple(layers)


def apply(
    layers: Layers, x: Float[Array, "*B in"], activation: Activation = jax.nn.relu
) -> Float[Array, "*nB out"]:
    """The outputs for a batch [B, in]; a stack gives [n, B, out] from shared or stacked inputs."""
    return affine(layers[-1], features(layers, x, activation))


def features(
    layers: Layers, x: Float[Array, "*B in"], activation: Activation = jax.nn.relu
) -> Float[Array, "*nB width"]:
    """What the last layer sees."""
    for layer in layers[:-1]:
        x = activation(affine(layer, x))
    return x


def normed_relu(x: Float[Array, "*B width"]) -> Float[Array, "*B width"]:
    """ReLU of the layer's outputs after LayerNorm, without scale and offset."""
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(x**2, axis=-1, keepdims=True) - mean**2
    return jax.nn.relu((x - mean) * jax.lax.rsqrt(jnp.maximum(variance, 0.0) + NORM_EPSILON))


# Those that a policy may have, by the names that its file gives them.
ACTIVATIONS: dict[str, Activation] = {"relu": jax.nn.relu, "normed_relu": normed_relu}


def affine(layer: Layer, x: Float[Array, "*B in"]) -> Float[Array, "*nB out"]:
    """x w + b."""
    w, b = layer
    if w.ndim == 2:
        return x @ w + b
    if x.ndim == 2:  # repeating the small input is cheaper than transposing one wide product
        x = jnp.broadcast_to(x, (len(w), *x.shape))
    return x @ w + b[:, None]
