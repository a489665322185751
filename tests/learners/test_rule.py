"""Other ways to make one of L estimates: each does what it says, and none is the default."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from soar_il import optimism
from soar_il.bases.api import Base
from soar_il.errors import ConfigError
from soar_il.learners import critics
from soar_il.learners.critics import Rule
from soar_il.learners.sac import Settings
from soar_il.types import Spec

S = Settings(critics=3, hidden=(16, 16))
LAYERS = critics.init(jax.random.key(0), Spec(3, 2), S).layers
STATES, ACTIONS = (jax.random.normal(jax.random.key(n), (32, d)) for n, d in ((1, 3), (2, 2)))


def base(least):
    return Base(None, None, None, None, least_cost=least)


def q(rule):
    return critics.optimistic_q(LAYERS, STATES, ACTIONS, rule)


def test_the_default_is_the_paper_s_rule():
    rule = critics.rule_of(base(-np.inf), S)
    assert rule == Rule(1.0)
    x = critics.estimates(LAYERS, STATES, ACTIONS)
    np.testing.assert_array_equal(q(rule)[0], optimism.mean_minus_clipped_std(x, 1.0))


def test_sigma_in_mean_spreads_clips_at_so_many_of_them():
    rule = critics.rule_of(base(-1.0), Settings(critics=3, sigma=0.5, sigma_in="spread"))
    value, spread = q(rule)
    mean = critics.estimates(LAYERS, STATES, ACTIONS).mean(axis=0)
    wanted = np.minimum(spread, 0.5 * spread.mean())
    np.testing.assert_allclose(mean - value, wanted, rtol=1e-4, atol=1e-6)


def test_sigma_in_bounds_is_a_share_of_the_largest_cost_to_go():
    s = Settings(sigma=0.1, sigma_in="bound", discount=0.9)
    assert critics.rule_of(base(-3.0), s).sigma == pytest.approx(0.1 * 3 / (1 - 0.9))
    with pytest.raises(ConfigError, match="no bound"):
        critics.rule_of(base(-np.inf), s)


def test_a_smooth_clip_never_loses_its_gradient():
    """Far above sigma, where the other has none; and never more than sigma."""
    x = jnp.array([[0.0], [4.0]])  # a spread of 2

    def bonus(x, smooth):
        return (jnp.mean(x, axis=0) - optimism.mean_minus_clipped_std(x, 1.0, smooth))[0]

    hard, soft = (jax.grad(bonus)(x, smooth) for smooth in (False, True))
    assert float(jnp.abs(hard).max()) == 0.0
    assert float(jnp.abs(soft).max()) > 0.01
    assert float(bonus(x, True)) == pytest.approx(np.tanh(2.0))
    assert float(bonus(0.01 * x, True)) == pytest.approx(0.02, rel=1e-3)
    nothing = optimism.mean_minus_clipped_std(x, 0.0, True)
    assert float(nothing[0]) == 2.0


def test_single_critics_are_all_of_them():
    every = critics.pairs(LAYERS, STATES, ACTIONS).reshape(6, -1)
    value, spread = q(Rule(100.0, singles=True))
    np.testing.assert_allclose(spread, every.std(axis=0), rtol=1e-5)
    np.testing.assert_allclose(value, every.mean(axis=0) - every.std(axis=0), atol=1e-5)
