"""SMILING (Wu et al. 2025): a state is cheap if the expert's diffusion model explains it better.

Two networks guess the noise that was added to a state: one is fitted to the expert's states, before
anything else, one to the learner's. The cost of a state is how much worse the expert's guesses are.
From states alone; there is no discriminator, and the expert's network never changes.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from soar_il.bases import fitting
from soar_il.bases.api import Base, Data, Needs
from soar_il.bases.fitting import Fit
from soar_il.bases.given import Given
from soar_il.config import check_range
from soar_il.networks import mlp
from soar_il.networks.mlp import Layers
from soar_il.types import Array, Batch, Count, Float, Metrics, PRNGKey, Scalar, Spec

EMBEDDING = 16  # coordinates that tell a network how much noise there is
NOISE = 0.1, 20.0  # its rate at the first and at the last moment of the diffusion
NORMAL_IQR = 1.349  # between the quartiles of a normal distribution, in its deviations
LEAST_SCALE = 1e-6


@dataclasses.dataclass(frozen=True)
class Settings:
    """The two models, and what is made of their errors.

    Args:
        times: How many amounts of noise the cost is a mean over.
        expert_steps: Adam steps of the expert's model, before the first episode.
        steps_per_step: Adam steps of the learner's model for each new environment step.
        learning_rate: Of both.
        batch: States in a minibatch of a model.
        recent: The learner's model is fitted to this many newest transitions; 0 for all.
        hidden: Sizes of the hidden layers.
        spread: The standard deviation that costs are brought to ...
        rate: ... and how far their running centre and scale move at each update.
        bound: |c| is at most this, by a tanh.
    """

    times: int = 10
    expert_steps: int = 10_000
    steps_per_step: float = 0.5
    learning_rate: float = 1e-3
    batch: int = 256
    recent: int = 200_000
    hidden: tuple[int, ...] = (256,)
    spread: float = 1.0
    rate: float = 0.1
    bound: float = 3.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))  # a list would not hash
        check_range(self, ("times", "expert_steps", "batch", "hidden"), least=1)
        check_range(self, ("steps_per_step", "recent"), least=0)
        check_range(self, ("learning_rate", "rate"), above=0, most=1)
        check_range(self, ("spread", "bound"), above=0)


class Models(NamedTuple):
    """Both models, and how their errors become a cost."""

    expert: Layers
    learner: Fit
    noise: Float[Array, "T s"]  # one draw for each amount of noise, the same for all states
    centre: Scalar  # running median of the difference of errors, over expert and learner
    scale: Scalar  # running deviation, from the quartiles
    updates: Count


def make(settings: Settings, given: Given) -> Base:
    """SMILING on states."""
    s = settings
    adam = optax.adam(s.learning_rate)

    def fitted(fit: Fit, data: Data, key: PRNGKey) -> tuple[Fit, Metrics]:
        """One step on states of these data: each at a moment of its own."""
        keys = jax.random.split(key, 3)
        states = data.draw(keys[0], s.batch, s.recent or None).observations
        moments = jax.random.uniform(keys[1], (s.batch,))
        noise = jax.random.normal(keys[2], states.shape)

        def loss(layers: Layers) -> tuple[Array, None]:
            return jnp.mean(errors(layers, states, moments, noise)), None

        fit, (value, _) = fitting.descended(adam, fit, loss)
        return fit, {"diffusion_loss": value}

    def init(key: PRNGKey, spec: Spec, expert: Data) -> Models:
        keys = jax.random.split(key, 3)
        d = spec.observation
        fits = [
            Fit(layers, adam.init(layers))
            for layers in (mlp.init(k, (d + EMBEDDING, *s.hidden, d)) for k in keys[:2])
        ]
        theirs = fitting.in_parts(
            "diffusion model of the expert",
            lambda f, k: fitted(f, expert, k),
            fits[0],
            s.expert_steps,
            keys[2],
        )
        noise = jax.random.normal(jax.random.fold_in(key, 1), (s.times, d))
        zero = jnp.zeros((), jnp.float32)
        return Models(theirs.layers, fits[1], noise, zero, zero + 1, jnp.int32(0))

    def difference(models: Models, states: Float[Array, "*B s"]) -> Float[Array, "*B"]:
        """How much larger the expert's errors are than the learner's, over all amounts of noise."""
        many = jnp.broadcast_to(states[..., None, :], (*states.shape[:-1], *models.noise.shape))
        moments = (jnp.arange(s.times) + 0.5) / s.times
        both = (
            errors(layers, many, jnp.broadcast_to(moments, many.shape[:-1]), models.noise)
            for layers in (models.expert, models.learner.layers)
        )
        theirs, ours = (jnp.mean(x, axis=-1) for x in both)
        return theirs - ours

    def cost_of(models: Models, batch: Batch) -> Array:
        apart = (difference(models, batch.observations) - models.centre) / models.scale
        return fitting.bounded(s.spread * apart, s.bound, "tanh")

    def update(models: Models, expert: Data, data: Data, key: PRNGKey) -> tuple[Models, Metrics]:
        keys = jax.random.split(key, 4)
        steps = fitting.steps(s.steps_per_step, data)
        fit, seen = fitting.repeated(
            lambda f, k: fitted(f, data, k), models.learner, steps, keys[0]
        )
        noise = jax.random.normal(keys[1], models.noise.shape)
        models = models._replace(learner=fit, noise=noise, updates=models.updates + 1)
        batches = [d.draw(k, s.batch) for d, k in ((expert, keys[2]), (data, keys[3]))]
        found = jnp.concatenate([difference(models, b.observations) for b in batches])
        low, middle, high = jnp.quantile(found, jnp.asarray([0.25, 0.5, 0.75]))
        rate = jnp.where(models.updates == 1, 1.0, s.rate)
        scale = jnp.maximum((high - low) / NORMAL_IQR, LEAST_SCALE)
        models = models._replace(
            centre=models.centre + rate * (middle - models.centre),
            scale=models.scale + rate * (scale - models.scale),
        )
        theirs, ours = (jnp.mean(cost_of(models, batch)) for batch in batches)
        return models, {**seen, "cost_gap": ours - theirs, "cost_scale": models.scale}

    return Base(Needs(), init, update, cost_of, least_cost=-s.bound)


def errors(
    layers: Layers,
    states: Float[Array, "*B s"],
    moments: Float[Array, "*B"],
    noise: Float[Array, "*N s"],
) -> Float[Array, "*B"]:
    """|epsilon(s_t, t) - noise|^2, where s_t is the state with that noise at moment t in (0, 1)."""
    least, most = NOISE
    signal = jnp.exp(-0.25 * moments**2 * (most - least) - 0.5 * moments * least)[..., None]
    diffused = signal * states + jnp.sqrt(1 - signal**2) * noise
    guess = mlp.apply(layers, jnp.concatenate([diffused, embedded(moments)], -1), jax.nn.silu)
    return jnp.sum((guess - noise) ** 2, axis=-1)


def embedded(moments: Float[Array, "*B"]) -> Float[Array, "*B n"]:
    """Sines and cosines of a moment, from slow to fast."""
    frequencies = 1000.0 ** (jnp.arange(EMBEDDING // 2) / (EMBEDDING // 2))
    phases = moments[..., None] * frequencies
    return jnp.concatenate([jnp.sin(phases), jnp.cos(phases)], axis=-1)
