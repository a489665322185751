"""Runs of Algorithm 2: the whole loop, rollouts included, compiled once and vmapped over seeds."""

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from soar_il import rng, soar
from soar_il.errors import ConfigError, MdpError
from soar_il.tabular.datasets import Counts, Datasets, Log
from soar_il.tabular.expert import ExpertData
from soar_il.tabular.mdp import Array, Mdp
from soar_il.tabular.parts import World, cdf, initial_state, lengths, tabular_parts
from soar_il.tabular.settings import Settings
from soar_il.types import Count, Scalar

SEEDS = "seeds"
Kept = tuple[jax.Array, ...]  # the fields of ``Trace`` but for its first
LOG_COST = 4  # a logged transition costs about as much time as this many entries of a table


class Trace(NamedTuple):
    """Iterations ``first`` .. ``first + n - 1`` of B runs. Arrays are [B, n, ...]."""

    first: int
    policy: Array  # pi^k
    cost: Array  # c^k
    q: Array  # Q^{k+1}
    learner_occupancy: Array  # the estimate of d^{pi^k} that the cost update used
    steps: Array  # environment steps taken in iteration k
    visits: Array  # N^k(s, a), tau^k among them


class Plan(NamedTuple):
    """What is fixed when the program is compiled."""

    settings: Settings
    n_states: int
    n_actions: int
    longest: int
    steps: int
    chunk: int

    def datasets(self) -> Datasets:
        cells = self.settings.critics * self.n_states * self.n_actions
        if self.n_states * cells <= LOG_COST * (self.steps + cells):
            return Counts(self.settings, self.n_states, self.n_actions)
        return Log(self.settings, self.n_states, self.n_actions, self.steps)


def run(
    mdp: Mdp,
    experts: Sequence[ExpertData],
    settings: Settings,
    iterations: int,
    seeds: Sequence[int],
    chunk: int = 1000,
) -> Iterator[Trace]:
    """``iterations`` of Algorithm 2, one run per seed with its own expert data, side by side.

    Yields a ``Trace`` every so many iterations, ``chunk`` at the most. The runs are the same
    whatever the chunk and whatever runs beside them. The MDP's true cost goes nowhere: only its
    dynamics are used.
    """
    plan, world, expert, states, numbers = prepared(
        mdp, experts, settings, iterations, seeds, chunk
    )
    chunk = plan.chunk
    for first in range(1, iterations + 1, chunk):
        with jax.enable_x64(True):
            states, trace = advance(plan, world, expert, states, numbers)
        # The last chunk is a whole one too, so that there is one program to compile.
        yield Trace(first, *(np.asarray(x)[:, : iterations + 1 - first] for x in trace))


def prepared(
    mdp: Mdp,
    experts: Sequence[ExpertData],
    settings: Settings,
    iterations: int,
    seeds: Sequence[int],
    chunk: int,
) -> tuple[Plan, World, jax.Array, soar.State, jax.Array]:
    """What ``advance`` needs; its chunk is the given one or a little less."""
    frequencies = _expert_batch(mdp, experts, settings, seeds)
    if iterations < 1 or chunk < 1:
        raise ConfigError(f"iterations={iterations}, chunk={chunk}", do="give at least 1")
    with jax.enable_x64(True):
        numbers = jnp.asarray(seeds, jnp.uint32)
        world = World(
            cdf(jnp.asarray(mdp.transitions)),
            cdf(jnp.asarray(mdp.initial)),
            jnp.float64(mdp.discount),
        )
        chunks = -(-iterations // chunk)
        chunk = -(-iterations // chunks)
        longest, steps = _sizes(world.discount, settings, chunks * chunk, numbers)
        plan = Plan(settings, mdp.n_states, mdp.n_actions, longest, steps, chunk)
        return plan, world, jnp.asarray(frequencies), _start(plan, len(seeds)), numbers


def _expert_batch(
    mdp: Mdp, experts: Sequence[ExpertData], settings: Settings, seeds: Sequence[int]
) -> Array:
    if len(experts) != len(seeds) or not seeds:
        raise ConfigError(
            f"{len(experts)} expert data sets for {len(seeds)} seeds", do="give one for each seed"
        )
    if len(set(seeds)) != len(seeds) or min(seeds) < 0 or max(seeds) >= 2**32:
        raise ConfigError(f"seeds {list(seeds)}", do="give different numbers from 0 to 2^32 - 1")
    shape = (mdp.n_states,) if settings.state_only else (mdp.n_states, mdp.n_actions)
    for number, data in enumerate(experts):
        if data.counts.shape != shape:
            raise MdpError(
                f"expert data set {number} has shape {data.counts.shape}, wanted {shape}",
                mdp.name,
                f"draw it with state_only={settings.state_only} from this MDP",
            )
    return np.stack([data.occupancy for data in experts])


def _sizes(
    discount: Scalar, settings: Settings, iterations: int, seeds: jax.Array
) -> tuple[int, int]:
    """The longest trajectory and the largest number of steps of a run: known from the seeds."""

    @jax.jit
    def run_lengths(seed: Count) -> tuple[jax.Array, jax.Array]:
        def at(k: Count) -> tuple[jax.Array, jax.Array]:
            length = lengths(rng.at(seed, k)("collect"), discount, settings)
            return length.max(), length[: settings.data_rollouts].sum()

        longest, total = jax.lax.map(at, 1 + jnp.arange(iterations, dtype=jnp.int32))
        return longest.max(), total.sum()

    longest, total = jax.vmap(run_lengths)(seeds)
    return _round_up(int(longest.max()), 64), _round_up(int(total.max()), 1024)


def _round_up(number: int, step: int) -> int:
    """To a multiple, so that nearby sizes share a compiled program."""
    return -(-number // step) * step


def _start(plan: Plan, runs: int) -> soar.State:
    state = initial_state(plan.datasets(), plan.n_states, plan.n_actions, plan.settings.state_only)
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (runs, *x.shape)).copy(), state)


@functools.partial(jax.jit, static_argnums=0, donate_argnums=3)
def advance(
    plan: Plan, world: World, expert: jax.Array, states: soar.State, seeds: jax.Array
) -> tuple[soar.State, Kept]:
    """``plan.chunk`` passes of Algorithm 1 for every seed."""

    def one(expert: jax.Array, state: soar.State, seed: Count) -> tuple[soar.State, Kept]:
        parts = tabular_parts(
            world, expert, plan.settings, plan.datasets(), plan.longest, axis=SEEDS
        )

        def step(state: soar.State, _: None) -> tuple[soar.State, Kept]:
            after, _, seen = soar.iteration(parts, state, seed)
            policy = jnp.exp(state.policy)
            visits = after.data.visits.reshape(plan.n_states, plan.n_actions)
            kept = (after.cost, after.critics, seen["learner_occupancy"], seen["steps"], visits)
            return after, (policy, *kept)

        return jax.lax.scan(step, state, None, length=plan.chunk)

    return jax.vmap(one, axis_name=SEEDS)(expert, states, seeds)
