import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from soar_il.networks import gaussian, mlp
from soar_il.types import Spec

sample = jax.jit(gaussian.sample, static_argnums=1)


def flat(mean, log_std, dtype=np.float32):
    """A policy that is the same everywhere, for observations of one coordinate."""
    bias = np.concatenate([mean, log_std]).astype(dtype)
    return ((np.zeros((1, len(bias)), dtype), bias),)


def at(mean, log_std, actions):
    """log pi of these actions [n, d], in float64."""
    mean, log_std, actions = (np.asarray(x, float) for x in (mean, log_std, actions))
    noise = (np.arctanh(actions) - mean) / np.exp(log_std)
    layers, spec = flat(mean, log_std, float), Spec(1, len(mean))
    found, log_pi = sample(layers, spec, np.zeros((len(actions), 1)), noise)
    np.testing.assert_allclose(found, actions, atol=1e-12)
    return np.asarray(log_pi)


@pytest.fixture
def _float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.usefixtures("_float64")
@pytest.mark.parametrize(
    ("mean", "log_std"), [([0.0], [0.0]), ([0.7], [-2.0]), ([-1.5], [-0.5]), ([2.0], [-1.0])]
)
def test_the_density_of_one_action_integrates_to_one(mean, log_std):
    nodes, weights = np.polynomial.legendre.leggauss(400)
    density = np.exp(at(mean, log_std, nodes[:, None]))
    assert weights @ density == pytest.approx(1, abs=1e-3)


@pytest.mark.usefixtures("_float64")
def test_the_density_of_two_actions_integrates_to_one():
    nodes, weights = np.polynomial.legendre.leggauss(200)
    grid = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1)
    density = np.exp(at([0.4, -0.9], [-0.3, -1.2], grid.reshape(-1, 2))).reshape(200, 200)
    assert weights @ density @ weights == pytest.approx(1, abs=1e-3)


@pytest.mark.usefixtures("_float64")
@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.floats(-3, 3), st.floats(-5, 2)), min_size=3, max_size=3),
    st.lists(st.floats(-0.999, 0.999), min_size=3, max_size=3),
)
def test_log_pi_is_the_change_of_variables_formula(moments, action):
    mean, log_std = np.array(moments).T
    action = np.array(action)
    expected = stats.norm.logpdf(np.arctanh(action), mean, np.exp(log_std)) - np.log1p(-(action**2))
    found = at(mean, log_std, action[None])[0]
    assert found == pytest.approx(expected.sum(), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("mean", [0.0, -4.0, math.atanh(1 - 1e-7), -50.0, 1e4])
@pytest.mark.parametrize("log_std", [-20.0, -5.0, 0.0, 2.0])
def test_log_pi_and_its_slope_are_finite_however_near_the_bounds(mean, log_std):
    z = np.linspace(-4, 4, 9, dtype=np.float32)[:, None]
    states = np.zeros((9, 1), np.float32)
    actions, log_pi = sample(flat([mean], [log_std]), Spec(1, 1), states, z)
    assert np.all(np.abs(actions) <= 1)
    u = np.float64(np.float32(mean)) + np.exp(np.float64(log_std)) * z[:, 0].astype(float)
    log_cosh = np.logaddexp(u, -u) - math.log(2)
    expected = stats.norm.logpdf(z[:, 0].astype(float)) - log_std + 2 * log_cosh
    np.testing.assert_allclose(log_pi, expected, rtol=1e-5, atol=1e-4)
    slopes = slope_of_log_pi(flat([mean], [log_std]), states, z)
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(slopes))


@jax.jit
def slope_of_log_pi(layers, states, z):
    def total(layers):
        actions, log_pi = gaussian.sample(layers, Spec(1, 1), states, z)
        return log_pi.sum() + actions.sum()

    return jax.grad(total)(layers)


@pytest.mark.parametrize(("asked", "given"), [(50.0, 2.0), (-50.0, -20.0)])
def test_the_spread_has_bounds(asked, given):
    z = np.linspace(-1, 1, 9, dtype=np.float32)[:, None]
    states = np.zeros((9, 1), np.float32)
    one, other = (sample(flat([0.1], [x]), Spec(1, 1), states, z) for x in (asked, given))
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize(("mean", "log_std"), [(0.0, 0.0), (1.2, -1.0), (-0.5, 0.7)])
def test_samples_have_the_distribution_whose_density_is_given(mean, log_std):
    z = jax.random.normal(jax.random.key(0), (20_000, 1))
    states = np.zeros((20_000, 1), np.float32)
    actions, _ = sample(flat([mean], [log_std]), Spec(1, 1), states, z)

    def cdf(a):
        return stats.norm.cdf(np.arctanh(a), mean, math.exp(log_std))

    inside = np.clip(np.asarray(actions, float)[:, 0], -1 + 1e-12, 1 - 1e-12)
    assert stats.kstest(inside, cdf).pvalue > 1e-3


SPEC = Spec(4, 2, absorbing=True)
LAYERS = mlp.init(jax.random.key(1), (4, 16, 4))
STATES = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
STATES[:, -1] = 0
NOISE = np.random.default_rng(1).normal(size=(6, 2)).astype(np.float32)
DEAD = np.array([False, True, False, True, True, False])
MIXED = np.where(DEAD[:, None], np.float32([0, 0, 0, 10]), STATES)


@jax.jit
def slope_of_rows(layers, states, rows):
    def total(layers):
        actions, log_pi = gaussian.sample(layers, SPEC, states, NOISE)
        return jnp.sum(rows * (log_pi + actions.sum(axis=-1)))

    return jax.grad(total)(layers)


def test_the_absorbing_state_has_one_action_and_no_entropy():
    actions, log_pi = sample(LAYERS, SPEC, MIXED, NOISE)
    np.testing.assert_array_equal(actions[DEAD], 0)
    np.testing.assert_array_equal(log_pi[DEAD], 0)
    slope = slope_of_rows(LAYERS, MIXED, DEAD.astype(np.float32))
    assert all((np.asarray(x) == 0).all() for x in jax.tree.leaves(slope))


def test_the_living_do_not_notice_the_absorbing():
    mixed, alive = sample(LAYERS, SPEC, MIXED, NOISE), sample(LAYERS, SPEC, STATES, NOISE)
    for a, b in zip(mixed, alive, strict=True):
        np.testing.assert_array_equal(a[~DEAD], b[~DEAD])
        assert np.all(np.asarray(b) != 0)
    slopes = (slope_of_rows(LAYERS, x, (~DEAD).astype(np.float32)) for x in (MIXED, STATES))
    for a, b in zip(*map(jax.tree.leaves, slopes), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_the_mode_is_the_squashed_mean():
    np.testing.assert_allclose(
        gaussian.mode(flat([0.3, -2.0], [1.0, -1.0]), np.zeros((1, 1), np.float32)),
        np.tanh([[0.3, -2.0]]),
        rtol=1e-6,
    )
