"""Spectral normalisation (Miyato et al. 2018): every layer has largest singular value one.

With activations that are nowhere steeper than one, the network is then nowhere steeper than one.
The singular values come from power iteration: one turn a step, from where the last one ended.
"""

import jax
import jax.numpy as jnp

from soar_il.networks.mlp import Layers
from soar_il.types import Array, PRNGKey

Vectors = tuple[Array, ...]  # for each layer the direction of its largest singular value, [out]
TURNS = 20  # before the first step


def started(key: PRNGKey, layers: Layers) -> Vectors:
    """Directions for layers that are new."""
    keys = jax.random.split(key, len(layers))
    vectors = tuple(jax.random.normal(k, b.shape) for k, (_, b) in zip(keys, layers, strict=True))
    for _ in range(TURNS):
        vectors = turned(layers, vectors)
    return vectors


def turned(layers: Layers, vectors: Vectors) -> Vectors:
    """One turn of power iteration on w^T w."""
    return tuple(_unit(jnp.asarray((w @ v) @ w)) for (w, _), v in zip(layers, vectors, strict=True))


def normed(layers: Layers, vectors: Vectors) -> Layers:
    """The layers divided by their largest singular values."""
    return tuple((w / jnp.linalg.norm(w @ v), b) for (w, b), v in zip(layers, vectors, strict=True))


def _unit(v: Array) -> Array:
    return v / jnp.maximum(jnp.linalg.norm(v), 1e-12)
