import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from soar_il import optimism

estimates = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.floats(0, 100)
)


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


@given(estimates)
def test_minimum_is_below_every_estimate(x):
    assert np.all(np.asarray(optimism.minimum(x)) <= x)


@given(estimates)
def test_samuelson_mean_std_is_at_most_the_minimum(x):
    assert np.all(np.asarray(optimism.mean_minus_std(x)) <= x.min(axis=0) + 1e-9)


@given(estimates)
def test_mean_std_is_never_negative(x):
    assert np.all(np.asarray(optimism.mean_minus_std(x, 10.0)) >= 0)


def test_mean_std_has_no_one_over_l():
    x = np.array([[3.0], [5.0]])
    assert float(optimism.mean_minus_std(x)[0]) == pytest.approx(4 - np.sqrt(2))


@given(estimates, st.integers(0, 2**31))
def test_the_order_of_the_critics_does_not_matter(x, seed):
    shuffled = np.random.default_rng(seed).permutation(x)
    for rule in (
        optimism.minimum,
        optimism.mean_minus_std,
        lambda x: optimism.mean_minus_clipped_std(x, 1.0),
    ):
        np.testing.assert_allclose(rule(shuffled), rule(x), atol=1e-9)


@given(estimates, st.floats(0, 50))
def test_clipped_bonus_is_the_population_std_up_to_sigma(x, sigma):
    bonus = x.mean(axis=0) - np.asarray(optimism.mean_minus_clipped_std(x, sigma))
    np.testing.assert_allclose(bonus, np.minimum(x.std(axis=0), sigma), atol=1e-6)


@given(estimates)
def test_no_sigma_is_the_mean_and_one_critic_has_no_bonus(x):
    np.testing.assert_allclose(optimism.mean_minus_clipped_std(x, 0.0), x.mean(axis=0), atol=1e-9)
    np.testing.assert_array_equal(optimism.mean_minus_clipped_std(x[:1], 5.0), x[0])


@pytest.mark.parametrize("critics", [1, 3])
def test_equal_critics_have_a_finite_gradient(critics):
    x = jnp.full((critics, 2), 7.0)
    gradient = jax.grad(lambda x: optimism.mean_minus_clipped_std(x, 1.0).sum())(x)
    np.testing.assert_allclose(gradient, 1 / critics)
