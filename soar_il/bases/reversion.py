"""How far a state is from every demonstrated one, between 0 (there) and 1 (nothing is known).

It is the share of its prior variance that a Gaussian process keeps after having seen the centres:
1 - k(s, Z) (K + jitter)^-1 k(Z, s). Away from all centres k vanishes and the share goes to 1,
whatever the other arrays are; no network stands between the state and its distance.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from soar_il.types import Array, Count, Float, Scalar, Tree

JITTER = 1e-3
HALVINGS = 24


class Reversion(NamedTuple):
    """Demonstrated states and what their kernel needs."""

    centres: Float[Array, "M s"]  # Z
    width: Scalar  # of the kernel
    root: Float[Array, "M M"]  # inverse Cholesky factor of K + jitter
    usual: Scalar  # what is left at most demonstrated states; it counts as nothing


def left(r: Reversion, states: Float[Array, "*B s"]) -> Float[Array, "*B"]:
    """The share of the prior that is left at each state, beyond the usual."""
    explained = jnp.sum((_kernel(r.centres, r.width, states) @ r.root.T) ** 2, axis=-1)
    return jnp.clip((1.0 - explained - r.usual) / (1.0 - r.usual), 0.0, 1.0)


def fit(centres: Float[Array, "M s"], others: Float[Array, "N s"], level: float) -> Reversion:
    """The width at which ``others``, demonstrated states too, keep ``level`` of it on average.

    Nine in ten of them then count as known: what they keep is the usual.
    """

    def halve(_: Count, bounds: Tree) -> Tree:
        low, high = bounds
        middle = (low + high) / 2
        wide = jnp.mean(left(_made(centres, jnp.exp(middle)), others)) < level
        return jnp.where(wide, low, middle), jnp.where(wide, middle, high)

    ends = jnp.log(jnp.float32(1e-2)), jnp.log(jnp.float32(1e2))
    low, high = jax.lax.fori_loop(0, HALVINGS, halve, ends)
    r = _made(centres, jnp.exp((low + high) / 2))
    return r._replace(usual=jnp.quantile(left(r, others), 0.9))


def _made(centres: Float[Array, "M s"], width: Scalar) -> Reversion:
    m = len(centres)
    factor = jnp.linalg.cholesky(_kernel(centres, width, centres) + JITTER * jnp.eye(m))
    root = jax.scipy.linalg.solve_triangular(factor, jnp.eye(m), lower=True)
    return Reversion(centres, width, root, jnp.float32(0))


def _kernel(
    centres: Float[Array, "M s"], width: Scalar, states: Float[Array, "*B s"]
) -> Float[Array, "*B M"]:
    scale = width * centres.shape[-1] ** 0.5  # in units of a standard deviation a coordinate
    square = (
        jnp.sum(states**2, axis=-1, keepdims=True)
        + jnp.sum(centres**2, axis=-1)
        - 2 * states @ centres.T
    )
    return jnp.exp(-0.5 * jnp.maximum(square, 0.0) / scale**2)
