"""A discriminator: the log density ratio of expert and learner, by logistic regression."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from soar_il.bases import fitting
from soar_il.bases.api import Data, Recent
from soar_il.bases.fitting import Fit
from soar_il.networks import mlp
from soar_il.networks.mlp import Layers
from soar_il.types import Array, Batch, Float, PRNGKey, Scalar

LOGIT = 10.0  # |l| is at most this


class Draw(NamedTuple):
    """How many rows of each kind, and which occupancy they are drawn by."""

    batch: int
    discount: float  # 1: all steps alike

    def __call__(self, data: Data, key: PRNGKey, recent: Recent = None) -> Batch:
        if self.discount < 1:
            return data.draw_occupancy(key, self.batch, self.discount, recent)
        return data.draw(key, self.batch, recent)


def init(key: PRNGKey, inputs: int, width: int, blocks: int) -> Layers:
    """A first layer, ``blocks`` residual ones, and a last."""
    return mlp.init(key, (inputs, *[width] * (1 + blocks), 1))


def log_ratio(layers: Layers, x: Float[Array, "*B in"]) -> Float[Array, "*B"]:
    """l(x) = log rho_E(x) / rho_w(x): a residual tanh network, clamped."""
    first, *blocks, last = layers
    x = jnp.tanh(mlp.affine(first, x))
    for block in blocks:
        x = x + jnp.tanh(mlp.affine(block, x))
    return jnp.clip(mlp.affine(last, x)[..., 0], -LOGIT, LOGIT)


def cross_entropy(
    theirs: tuple[Float[Array, " B"], Float[Array, " B"]],
    ours: tuple[Float[Array, " B"], Float[Array, " B"]],
) -> Scalar:
    """Of expert against learner, from logits and weights; both sides count alike."""
    right = jnp.sum(theirs[1] * jax.nn.softplus(-theirs[0]))
    wrong = jnp.sum(ours[1] * jax.nn.softplus(ours[0]))
    return right + wrong


def classification_loss(
    logit: Callable[[Array], Array],
    theirs: tuple[Float[Array, "B in"], Float[Array, " B"]],
    ours: tuple[Float[Array, "B in"], Float[Array, " B"]],
    mix: Float[Array, "B 1"],
    penalty: float,
) -> Scalar:
    """Cross-entropy of expert against learner, and ``penalty`` times |grad l|^2 between them.

    Args:
        logit: l.
        theirs: The expert's inputs, and weights that sum to one.
        ours: The learner's.
        mix: For each row, where between the two the gradient is taken.
        penalty: Weight of the gradient penalty; 0 for none.
    """
    entropy = cross_entropy((logit(theirs[0]), theirs[1]), (logit(ours[0]), ours[1]))
    if not penalty:
        return entropy
    between = mix * theirs[0] + (1 - mix) * ours[0]
    return entropy + penalty * fitting.slope_error(logit, between, 0.0)


def fitted(
    fit: Fit,
    adam: optax.GradientTransformation,
    draw: Draw,
    expert: Data,
    data: Data,
    recent: Recent,
    penalty: float,
    key: PRNGKey,
) -> tuple[Fit, Scalar]:
    """One step on expert against learner, from states; and the loss."""
    keys = jax.random.split(key, 3)
    drawn = draw(expert, keys[0]), draw(data, keys[1], recent)
    theirs, ours = ((batch.observations, fitting.shares(batch)) for batch in drawn)
    mix = jax.random.uniform(keys[2], (draw.batch, 1))

    def loss(layers: Layers) -> tuple[Array, None]:
        def logit(x: Array) -> Array:
            return log_ratio(layers, x)

        weight = fitting.penalty_weight(penalty, theirs[0], by_size=True)
        return classification_loss(logit, theirs, ours, mix, weight), None

    fit, (value, _) = fitting.descended(adam, fit, loss)
    return fit, value
