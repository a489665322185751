"""Behavioural cloning: the policy of largest likelihood on the demonstrations, and nothing else.

No environment step is taken. The last of the demonstrated pairs are held out, and the clone that is
kept is the one that they are most likely under: training longer would fit the pairs it has seen
ever more sharply, because a deterministic expert has no density to find.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp

from soar_il.bases import cloning, fitting
from soar_il.bases.api import Base, Clone, Data, Needs
from soar_il.bases.given import Given
from soar_il.config import check_range
from soar_il.networks import gaussian
from soar_il.networks.mlp import Layers
from soar_il.terminal.phases import phase
from soar_il.types import Array, Batch, Bool, Count, Metrics, PRNGKey, Scalar, Spec, Tree


@dataclasses.dataclass(frozen=True)
class Settings(cloning.Settings):
    """How the clone is fitted; ``steps`` is the most Adam steps it can take.

    Args:
        held_out: The share of the pairs that is held out, from the end of the demonstrations.
        check_every: Adam steps from one look at the held-out pairs to the next.
        patience: Looks in a row without a better likelihood after which it stops.
        least_log_std: No standard deviation is taken to be below this, so that the likelihood of a
            deterministic expert is bounded.
    """

    held_out: float = 0.1
    check_every: int = 500
    patience: int = 10
    least_log_std: float = -3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self, ("held_out",), above=0, below=1)
        check_range(self, ("check_every", "patience"), least=1)
        check_range(self, ("least_log_std",), least=-20, most=2)


class Pairs(NamedTuple):
    """All demonstrated pairs, the last one first, in a room that may be larger."""

    batch: Batch
    held: Bool[Array, " B"]
    first: Count  # where those that are fitted begin
    last: Count  # and where they end


class Search(NamedTuple):
    """The clone on its way, and the best so far."""

    layers: Layers
    optimiser: Tree
    best: Layers
    least: Scalar  # the loss of ``best`` on what is held out
    looks: Count
    without: Count  # looks since there was a better one


def log_density(layers: Layers, batch: Batch, least_log_std: float) -> Array:
    """log pi(a|s) with a standard deviation that is not below its least."""
    mean, log_std = gaussian.moments(layers, batch.observations)
    return gaussian.squashed_log_prob(mean, jnp.maximum(log_std, least_log_std), batch.actions)


def split(expert: Data, share: float) -> Pairs:
    """The last ``share`` of the pairs is held out.

    They are whole trajectories but for one, or the end of the only one: of pairs taken here and
    there the neighbours would be among those that are fitted.
    """
    batch, _ = expert.newest()
    held = jnp.clip(jnp.round(share * expert.fresh).astype(jnp.int32), 1, expert.fresh - 1)
    return Pairs(batch, jnp.arange(len(batch.actions)) < held, held, expert.fresh)


def cloned(key: PRNGKey, spec: Spec, expert: Data, s: Settings, hidden: tuple[int, ...]) -> Layers:
    """Adam on the negative log-likelihood, stopped early."""
    begin, rest = jax.random.split(key)
    adam = fitting.decayed_adam(s.learning_rate, s.weight_decay)
    pairs = split(expert, s.held_out)

    def loss(layers: Layers, batch: Batch) -> tuple[Scalar, None]:
        return -jnp.mean(log_density(layers, batch, s.least_log_std)), None

    def once(fit: fitting.Fit, key: PRNGKey) -> tuple[fitting.Fit, Metrics]:
        rows = jax.random.randint(key, (s.batch,), pairs.first, pairs.last)
        batch = jax.tree.map(lambda x: x[rows], pairs.batch)
        return fitting.descended(adam, fit, lambda layers: loss(layers, batch))[0], {}

    def off(layers: Layers) -> Scalar:
        return -jnp.mean(log_density(layers, pairs.batch, s.least_log_std), where=pairs.held)

    def look(now: Search) -> Search:
        n = jnp.minimum(s.check_every, s.steps - now.looks * s.check_every)
        fit = fitting.Fit(now.layers, now.optimiser)
        fit, _ = fitting.repeated(once, fit, n, jax.random.fold_in(rest, now.looks))
        value = off(fit.layers)
        better = value < now.least
        best = jax.tree.map(lambda x, y: jnp.where(better, x, y), fit.layers, now.best)
        least, without = jnp.minimum(value, now.least), jnp.where(better, 0, now.without + 1)
        return Search(fit.layers, fit.optimiser, best, least, now.looks + 1, without)

    def going(now: Search) -> Array:
        return (now.looks * s.check_every < s.steps) & (now.without < s.patience)

    layers = gaussian.init(begin, spec, hidden)
    none = jnp.zeros((), jnp.int32)
    start = Search(layers, adam.init(layers), layers, off(layers), none, none)
    return jax.lax.while_loop(going, look, start).best


def make(settings: Settings, given: Given) -> Base:
    """The clone is the result. Its cost is reported and serves nothing else."""
    s = settings

    def init(key: PRNGKey, spec: Spec, expert: Data) -> Layers:
        phase("cloning the expert")
        return jax.jit(lambda key, expert: cloned(key, spec, expert, s, given.hidden))(key, expert)

    def update(clone: Layers, expert: Data, data: Data, key: PRNGKey) -> tuple[Layers, Metrics]:
        """Line 6 has nothing to do."""
        return clone, cloning.gap_of(cost_of, s.batch, clone, expert, data, key)

    def cost_of(clone: Layers, batch: Batch) -> Array:
        return -log_density(clone, batch, s.least_log_std)

    needs = Needs(actions=True, steps=False)
    return Base(needs, init, update, cost_of, clone=Clone(lambda clone: clone))
