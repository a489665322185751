"""What the bonus of a run does at its newest checkpoint: a picture of it, nothing that learns."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from soar_il import files
from soar_il.bases import BASES
from soar_il.build import method_of
from soar_il.engine.data import Replay
from soar_il.errors import ConfigError
from soar_il.learners import critics
from soar_il.learners.critics import Rule
from soar_il.learners.sac import Actor
from soar_il.networks import gaussian
from soar_il.runs.run import Run
from soar_il.types import Array, Float, Scalar, Spec, Tree

NAME = "bonus.json"  # in the folder of the run, for reports
ALGORITHM = "sac"
MOST = 20_000  # state-action pairs that the density is made of
NEIGHBOUR = 10  # the distance to this one is what a density is
RANGE = (0.05, 0.95)  # of Q over states: the width between these quantiles
Numbers = dict[str, float]


def measure(run: Run, states: int = 2048, seed: int = 0) -> Numbers:
    """Spread, clipped share, the bonus's part of the actor's gradient, correlation with visits.

    States are drawn from D^k, those of the absorbing state left out; actions are the policy's, for
    the correlation uniform ones too.
    """
    cfg, spec = run.cfg, run.built.spec
    if cfg.algorithm != ALGORITHM or cfg.learner.critics == 1:
        what = f"{cfg.algorithm} with {cfg.learner.critics} critic(s) has no bonus to look at"
        raise ConfigError(what, str(run.folder), "give a run of sac with 2 critics or more")
    if cfg.base not in BASES:
        do = "give a run of a method of the table"
        raise ConfigError(f"the method {cfg.base!r} is not known", str(run.folder), do)
    data: Replay = run.state.data
    if run.k == 0:
        raise ConfigError("has no checkpoint after an iteration", str(run.folder), "train it first")
    s, layers, rule = cfg.learner, run.state.critics.layers, _rule(run)
    actor: Actor = run.state.policy.policy
    draw, noise = jax.random.split(jax.random.key(seed))
    rows = _alive(np.asarray(data.rows(draw, states)), data, spec)
    seen = data.observations[rows]
    z = jax.random.normal(noise, (len(rows), spec.action))
    actions = gaussian.sample(actor.layers, spec, seen, z)[0]
    mean, spread = (np.asarray(x) for x in _moments(layers, seen, actions, rule, s.layer_norm))
    low, high = np.quantile(mean, RANGE)
    share = part_of_the_gradient(actor.layers, layers, seen, z, rule, spec, s.layer_norm)
    return {
        "q_range": float(high - low),
        "spread": float(spread.mean()),
        "spread_share": float(spread.mean() / max(high - low, 1e-12)),
        "clipped_share": float((spread > np.asarray(rule.limit(jnp.asarray(spread)))).mean()),
        "gradient_share": float(share),
        "visits": visits(run, rows, np.asarray(actions), seed),
    }


@partial(jax.jit, static_argnums=(4, 5, 6))
def part_of_the_gradient(
    actor: Tree,
    layers: Tree,
    observations: Float[Array, "B s"],
    noise: Float[Array, "B a"],
    rule: Rule,
    spec: Spec,
    norm: bool,
) -> Scalar:
    """|g_bonus| / (|g_bonus| + |g_mean|), of the gradients in psi of the two parts of Q."""

    def parts(psi: Tree) -> tuple[Scalar, Scalar]:
        actions = gaussian.sample(psi, spec, observations, noise)[0]
        mean = jnp.mean(critics.joined(layers, observations, actions, rule, norm), axis=0)
        optimistic, _ = critics.optimistic_q(layers, observations, actions, rule, norm)
        return jnp.mean(mean - optimistic), jnp.mean(mean)

    bonus, rest = (_length(jax.grad(lambda psi, n=n: parts(psi)[n])(actor)) for n in (0, 1))
    return bonus / jnp.maximum(bonus + rest, 1e-12)


def visits(run: Run, rows: np.ndarray, actions: np.ndarray, seed: int) -> float:
    """Spearman's correlation of the spread with how often the surroundings were visited.

    The density is the distance to a neighbour among pairs of other trajectories, in coordinates as
    wide as the data. Half of the actions are the policy's, half uniform.
    """
    data, norm = run.state.data, run.cfg.learner.layer_norm
    rng = np.random.default_rng(seed)
    chosen = np.where(np.arange(len(rows))[:, None] % 2, actions, rng.uniform(-1, 1, actions.shape))
    seen = data.observations[rows]
    given = jnp.asarray(chosen, jnp.float32)
    spread = np.asarray(_moments(run.state.critics.layers, seen, given, _rule(run), norm)[1])
    trajectory = np.asarray(data.trajectory)
    pool = np.flatnonzero(trajectory >= 0)
    pool = _alive(rng.permutation(pool)[:MOST], data, run.built.spec)
    kept = np.concatenate([np.asarray(data.observations)[pool], np.asarray(data.actions)[pool]], 1)
    asked = np.concatenate([np.asarray(seen), chosen], 1)
    own = trajectory[rows][:, None] == trajectory[pool]
    return -_correlation(spread, distances(asked, kept, own))


def distances(
    asked: Float[np.ndarray, "n d"], kept: Float[np.ndarray, "m d"], own: Any
) -> Float[np.ndarray, " n"]:
    """From each row to its neighbour number NEIGHBOUR among the kept that are not its own."""
    middle, wide = kept.mean(axis=0, dtype=float), kept.std(axis=0, dtype=float)
    wide = np.where(wide > 1e-6, wide, 1.0)  # what does not vary is no reason to be far
    a, b = (asked - middle) / wide, (kept - middle) / wide
    square = (a**2).sum(1)[:, None] - 2 * a @ b.T + (b**2).sum(1)
    square = np.where(own, np.inf, np.maximum(square, 0))
    place = min(NEIGHBOUR, square.shape[1]) - 1
    return np.sqrt(np.partition(square, place, axis=1)[:, place])


def write(folder: Path, numbers: Numbers) -> Path:
    """Beside the run, where a report finds it."""
    known = {name: value if np.isfinite(value) else None for name, value in numbers.items()}
    files.write_atomically(folder / NAME, (json.dumps(known, indent=1) + "\n").encode())
    return folder / NAME


def read(folder: Path) -> Numbers:
    """What ``write`` wrote; nothing where it did not."""
    if not (folder / NAME).exists():
        return {}
    said = files.read_json(folder / NAME)
    return {name: float("nan") if value is None else value for name, value in said.items()}


def spoken(numbers: Numbers) -> str:
    """In one line."""
    n = {name: f"{value:.2f}" for name, value in numbers.items()}
    return (
        f"spread {n['spread']}, {n['spread_share']} of the range of Q ({n['q_range']}); clipped at "
        f"{n['clipped_share']} of states; {n['gradient_share']} of the actor's gradient; "
        f"correlation with visits {n['visits']}"
    )


def _alive(rows: np.ndarray, data: Replay, spec: Spec) -> np.ndarray:
    """Those rows that are no absorbing state: there is one action there, and nothing to choose."""
    if not spec.absorbing:
        return rows
    return rows[np.asarray(spec.alive(data.observations[rows]))]


def _rule(run: Run) -> Rule:
    """How the run makes one of its estimates."""
    return critics.rule_of(method_of(run.cfg, run.built.env.horizon, None), run.cfg.learner)


def _moments(
    layers: Tree, states: Array, actions: Array, rule: Rule, norm: bool
) -> tuple[Array, Array]:
    """Mean and spread of the estimates."""
    x = critics.joined(layers, states, actions, rule, norm)
    return jnp.mean(x, axis=0), jnp.std(x, axis=0)


def _length(tree: Tree) -> Scalar:
    return jnp.sqrt(sum(jnp.sum(x**2) for x in jax.tree.leaves(tree)))


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's; NaN where one of the two does not vary."""
    known = np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < 3 or x.min() == x.max() or y.min() == y.max():
        return float("nan")
    return float(stats.spearmanr(x, y).statistic)
