"""What GAIL, DAC, GAIfO and AIRL share: a discriminator, and costs that follow from its logit.

D = 1 / (1 + exp(-l)) is the probability that a transition is the expert's and not the learner's.
Its logit l is fitted by logistic regression on minibatches of both; the best l is the logarithm
of the ratio of their densities.
"""

import dataclasses
from collections.abc import Callable
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from soar_il.bases import fitting, ratio, spectral
from soar_il.bases.api import Base, Data, LogPi, Needs, half_recent
from soar_il.bases.fitting import Fit
from soar_il.config import only_read_with
from soar_il.errors import ConfigError
from soar_il.networks import mlp
from soar_il.networks.mlp import Layers
from soar_il.types import Array, Batch, Float, Metrics, PRNGKey, Spec

Form = Literal["logit", "log-d", "minus-log-not-d"]


@dataclasses.dataclass(frozen=True)
class Fitting(fitting.Settings):
    """How the discriminator is fitted.

    Args:
        count: What a row of the absorbing state counts for: the steps that it stands for, or one
            (discount = 1).
        smooth: What keeps the logit from being steep: a penalty on its gradient, spectral
            normalisation of its layers, or none. Only with penalty are gradient_penalty, by_size
            and slope read.
        bound: No value of the network, and so no cost, is further from zero.
    """

    count: Literal["steps", "rows"] = "steps"
    smooth: Literal["penalty", "spectral", "none"] = "penalty"
    gradient_penalty: float = 0.0053
    bound: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.discount < 1 and self.count == "rows":
            raise ConfigError("count is rows, and discount is below 1", do="give discount = 1")
        if self.smooth != "penalty":
            names = ("gradient_penalty", "by_size", "slope")
            only_read_with(self, names, "smooth = penalty")


@dataclasses.dataclass(frozen=True)
class Settings(Fitting):
    """How the discriminator is fitted, and what its logit is worth.

    Args:
        form: What minus the cost is: logit (log D - log(1 - D), of both signs), log-d (log D, never
            above zero, so that an end is welcome) or minus-log-not-d (-log(1 - D), never below
            zero, so that staying alive is paid for).
    """

    form: Form = "logit"


FORMS: dict[Form, Callable[[Array], Array]] = {
    "logit": lambda logit: logit,
    "log-d": jax.nn.log_sigmoid,
    "minus-log-not-d": jax.nn.softplus,
}


class Judge(NamedTuple):
    """A network of some part of a transition. Its value and an offset, if any, are the logit."""

    start: Callable[[PRNGKey, Spec], Layers]
    inputs: Callable[[Batch], Array]  # [*B] -> [*B, in]
    value: Callable[[Layers, Array], Array]  # [*B, in] -> [*B], before it is bounded
    offset: Callable[[Batch, LogPi], Array] | None = None  # added to the logit


class Told(NamedTuple):
    """The network on its way; for spectral normalisation also the directions of its layers."""

    fit: Fit
    vectors: spectral.Vectors


def perceptron(s: Fitting, inputs: Callable[[Batch], Array], size: Callable[[Spec], int]) -> Judge:
    """A tanh network of these inputs."""

    def start(key: PRNGKey, spec: Spec) -> Layers:
        return mlp.init(key, (size(spec), *s.hidden, 1))

    def value(layers: Layers, x: Array) -> Array:
        return mlp.apply(layers, x, jnp.tanh)[..., 0]

    return Judge(start, inputs, value)


def classifier(s: Settings, judge: Judge, needs: Needs) -> Base:
    """A method whose cost is a function of the discriminator's logit."""
    worth = FORMS[s.form]

    def cost(logit: Array) -> Array:
        return -worth(logit)  # rewards turn to costs here alone

    return adversary(s, judge, needs, cost)


def adversary(
    s: Fitting, judge: Judge, needs: Needs, cost: Callable[[Array], Array] = jnp.negative
) -> Base:
    """A method that fits this network as a discriminator; its costs fall with the value."""
    adam = fitting.decayed_adam(s.learning_rate, s.weight_decay)
    draw = ratio.Draw(s.batch, s.discount)

    def f(layers: Layers, vectors: spectral.Vectors, x: Array) -> Array:
        layers = spectral.normed(layers, vectors) if vectors else layers
        return fitting.bounded(judge.value(layers, x), s.bound, "tanh")

    def init(key: PRNGKey, spec: Spec, expert: Data) -> Told:
        keys = jax.random.split(key)
        layers = judge.start(keys[0], spec)
        vectors = spectral.started(keys[1], layers) if s.smooth == "spectral" else ()
        return Told(Fit(layers, adam.init(layers)), vectors)

    def share(batch: Batch) -> Float[Array, " B"]:
        if s.count == "rows":
            return jnp.full(s.batch, 1.0 / s.batch)
        return fitting.shares(batch)

    def once(
        told: Told, expert: Data, data: Data, key: PRNGKey, *log_pi: LogPi
    ) -> tuple[Told, Metrics]:
        keys = jax.random.split(key, 3)
        theirs, ours = draw(expert, keys[0]), draw(data, keys[1], half_recent(s.batch, s.recent))
        mix = jax.random.uniform(keys[2], (s.batch, 1))
        vectors = spectral.turned(told.fit.layers, told.vectors) if told.vectors else ()

        def side(layers: Layers, batch: Batch) -> tuple[Array, tuple[Array, Array]]:
            """The mean cost, and the logits with their weights."""
            value, own = f(layers, vectors, judge.inputs(batch)), share(batch)
            logit = value + judge.offset(batch, *log_pi) if judge.offset else value
            return jnp.sum(own * cost(value)), (logit, own)

        def loss(layers: Layers) -> tuple[Array, Metrics]:
            (c_theirs, l_theirs), (c_ours, l_ours) = side(layers, theirs), side(layers, ours)
            entropy = ratio.cross_entropy(l_theirs, l_ours)
            seen = {"cost_gap": c_ours - c_theirs, "discriminator_loss": entropy}
            if s.smooth != "penalty" or not s.gradient_penalty:
                return entropy, seen
            between = mix * judge.inputs(theirs) + (1 - mix) * judge.inputs(ours)
            off = fitting.slope_error(lambda x: f(layers, vectors, x), between, s.slope)
            weight = fitting.penalty_weight(s.gradient_penalty, between, s.by_size)
            return entropy + weight * off, seen

        fit, (_, seen) = fitting.descended(adam, told.fit, loss)
        return Told(fit, vectors), seen

    def update(
        told: Told, expert: Data, data: Data, key: PRNGKey, *log_pi: LogPi
    ) -> tuple[Told, Metrics]:
        steps = fitting.steps(s.steps_per_step, data)
        return fitting.repeated(lambda t, k: once(t, expert, data, k, *log_pi), told, steps, key)

    def cost_of(told: Told, batch: Batch) -> Array:
        return cost(f(told.fit.layers, told.vectors, judge.inputs(batch)))

    least = min(0.0, float(cost(jnp.float32(s.bound))))  # an end may cut what is above it
    return Base(needs, init, update, cost_of, least_cost=least)
