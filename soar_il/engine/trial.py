"""Which policy is kept, without a reward: the one whose episodes are most like the expert's.

A trial is an episode of the present policy, without noise, every so many steps. Its steps count and
its data are used as any other's. If its states are closer to the demonstrated ones than those of
the policy kept so far, the policy is tried again, and it is kept if it is closer each time.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from soar_il.engine.data import Replay
from soar_il.learners.settings import Settings
from soar_il.networks.mlp import Layers
from soar_il.types import Array, Bool, Count, Float, Scalar, Spec, Tree

MARKS = 256  # quantiles that stand for a distribution
ENDED = 3.0  # missing a whole episode weighs as much as this many deviations
FAR = 1e3  # the gap before the first trial


class Trial(NamedTuple):
    """What is being tried, and the best so far."""

    since: Count  # environment steps since the candidate's first trial
    gap: Scalar  # of the last trial
    passed: Count  # trials that the candidate has passed; 0 where there is no candidate
    worst: Scalar  # the largest gap in them
    candidate: Layers
    least: Scalar  # the largest gap in the trials of ``kept``
    kept: Layers  # the policy that is evaluated and saved


class Marks(NamedTuple):
    """The demonstrations, as far as trials look at them."""

    quantiles: Float[Array, "marks s"]  # of each coordinate, in its own deviations
    scale: Float[Array, " s"]
    steps: Scalar  # of a demonstration until it ends or is cut


def init(layers: Layers) -> Trial:
    """Before the first trial."""
    none, far = jnp.zeros((), jnp.int32), jnp.asarray(FAR, jnp.float32)
    candidate, kept = jax.tree.map(jnp.copy, (layers, layers))
    return Trial(none, far, none, far, candidate, far, kept)


def due(trial: Trial, every: int) -> Bool[Array, ""]:
    """Whether the next iteration begins with a trial."""
    return (trial.passed > 0) | (trial.since >= every)


def player(trial: Trial, current: Layers) -> Layers:
    """Whose trial it is: the candidate's again, or the present policy's."""
    return trial.candidate if trial.passed else current


def chosen(trial: Trial, current: Layers) -> Layers:
    """The policy that was kept; before the first one, the present policy."""
    return jax.tree.map(lambda a, b: jnp.where(trial.least < FAR, a, b), trial.kept, current)


def marks(expert: Replay, spec: Spec) -> Marks:
    """Of all demonstrated states that are alive."""
    rows = np.asarray(expert.tables[0, : int(expert.alive[0])])
    states = np.asarray(expert.observations)[rows]
    states = states[spec.alive(states)] if spec.absorbing else states
    scale = np.where(states.std(axis=0) > 1e-6, states.std(axis=0), 1.0)
    levels = (np.arange(MARKS) + 0.5) / MARKS
    quantiles = np.quantile(states / scale, levels, axis=0, method="inverted_cdf")
    steps = len(states) / int(expert.trajectories)
    return Marks(*(jnp.asarray(x, jnp.float32) for x in (quantiles, scale, steps)))


def gap(states: Float[Array, "H s"], alive: Bool[Array, " H"], marks: Marks) -> Scalar:
    """W_1(tau, expert) of the worst coordinate, in deviations, and for ending at another time.

    Args:
        states: [H, d], room for the longest trajectory.
        alive: [H], which of them are states of the trajectory.
    """
    n = jnp.sum(alive)
    ordered = jnp.sort(jnp.where(alive[:, None], states / marks.scale, jnp.inf), axis=0)
    levels = (jnp.arange(MARKS) + 0.5) / MARKS
    quantiles = ordered[jnp.floor(levels * n).astype(jnp.int32)]
    apart = jnp.max(jnp.mean(jnp.abs(quantiles - marks.quantiles), axis=0))
    return apart + ENDED * jnp.abs(n - marks.steps) / marks.steps


def judge(
    trial: Trial, current: Layers, data: Replay, marks: Marks, spec: Spec, s: Settings, horizon: int
) -> Trial:
    """The state of trials after an iteration's data have come in.

    If a trial was due, its episode is the first of the iteration: the collector puts it there.
    """
    states, own = data.first_new(horizon)
    alive = own & spec.alive(states) if spec.absorbing else own
    waited, tried = trial.passed > 0, due(trial, s.trial_every)
    now = gap(states, alive, marks)
    worst = jnp.where(waited, jnp.maximum(trial.worst, now), now)
    closer = tried & (worst < trial.least)
    best = closer & (trial.passed + 1 >= s.trials)
    again = closer & ~best

    def where(yes: Array, a: Tree, b: Tree) -> Tree:
        return jax.tree.map(lambda x, y: jnp.where(yes, x, y), a, b)

    candidate = where(tried & ~waited, current, trial.candidate)
    return Trial(
        since=jnp.where(tried & ~waited, 0, trial.since) + data.new_steps,
        gap=jnp.where(tried, now, trial.gap),
        passed=jnp.where(again, trial.passed + 1, 0),
        worst=jnp.where(again, worst, FAR),
        candidate=candidate,
        least=jnp.where(best, worst, trial.least),
        kept=where(best, candidate, trial.kept),
    )
