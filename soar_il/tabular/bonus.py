"""What the bonus of a tabular run goes by: the spread of its L estimates against the visits N."""

from collections.abc import Sequence

import jax
import numpy as np
from scipy import stats

from soar_il import soar
from soar_il.tabular.expert import draw_expert
from soar_il.tabular.mdp import Array, Mdp
from soar_il.tabular.parts import state_value
from soar_il.tabular.run import advance, prepared
from soar_il.tabular.settings import Settings


def spread_and_visits(
    mdp: Mdp, settings: Settings, iterations: int, expert_samples: int, seeds: Sequence[int]
) -> tuple[Array, Array]:
    """After so many iterations: sigma of gamma P_l V over l, and N(s, a), [seeds, S, A] both."""
    experts = [draw_expert(mdp, expert_samples, seed, settings.state_only) for seed in seeds]
    plan, world, expert, states, numbers = prepared(
        mdp, experts, settings, iterations, seeds, iterations
    )
    data = plan.datasets()

    def spread(state: soar.State) -> jax.Array:
        value = state_value(state.critics, state.policy, settings)
        return world.discount * data.next_values(state.data, value).std(axis=0)

    with jax.enable_x64(True):
        states, _ = advance(plan, world, expert, states, numbers)
        made = np.asarray(jax.vmap(spread)(states))
    return made, np.asarray(states.data.visits).reshape(made.shape)


def correlation(spread: Array, visits: Array) -> Array:
    """Spearman's over state-action pairs, a seed each; NaN where one of them does not vary."""
    found = []
    for x, y in zip(spread, visits, strict=True):
        level = x.min() == x.max() or y.min() == y.max()
        found.append(np.nan if level else stats.spearmanr(x.ravel(), y.ravel()).statistic)
    return np.array(found)
