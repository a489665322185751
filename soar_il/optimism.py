"""OptimisticQ (Algorithm 1, line 10): L estimates of a cost-to-go become one that is too low.

Costs are minimised, so optimism subtracts. Every rule reduces the leading axis, ``ell``.
"""

import jax.numpy as jnp

from soar_il.types import Array, Float, Scalar


def minimum(x: Float[Array, "L *S"]) -> Float[Array, "*S"]:
    """Equation (Min): the smallest of the L estimates."""
    return jnp.min(x, axis=0)


def mean_minus_std(
    x: Float[Array, "L *S"], scale: float | Scalar = 1.0, floor: float = 0.0
) -> Float[Array, "*S"]:
    """Equation (Mean-Std): mean minus ``scale`` times sigma, floored.

    Sigma has no 1/L: the root of the *sum* of squares. With ``scale=1`` this is at most the
    minimum of non-negative estimates (Samuelson's inequality).
    """
    mean = jnp.mean(x, axis=0)
    sigma = jnp.sqrt(jnp.sum((x - mean) ** 2, axis=0))
    return jnp.maximum(mean - scale * sigma, floor)


def mean_minus_clipped_std(
    x: Float[Array, "L *S"], sigma: float | Scalar, smooth: bool = False
) -> Float[Array, "*S"]:
    """OptimisticQ-NN: mean minus the population standard deviation, clipped to [0, sigma].

    With ``smooth`` the clip is sigma tanh(std / sigma), which never loses its gradient. One
    estimate has no spread: the bonus is exactly 0 and so is its gradient, where a root of a
    sum of squares would have an infinite one.
    """
    if len(x) == 1:
        return x[0]
    mean = jnp.mean(x, axis=0)
    variance = jnp.mean((x - mean) ** 2, axis=0)
    spread = variance > 0
    std = jnp.where(spread, jnp.sqrt(jnp.where(spread, variance, 1.0)), 0.0)
    if smooth:
        return mean - sigma * jnp.tanh(std / jnp.maximum(sigma, 1e-9))
    return mean - jnp.clip(std, 0.0, sigma)
