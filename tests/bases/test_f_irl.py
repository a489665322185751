"""f-IRL: the ratio is the ratio, and the gradient is the gradient of the divergence."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from soar_il.bases import f_irl, ratio
from soar_il.bases.given import Given
from soar_il.engine import replay
from soar_il.errors import ConfigError
from soar_il.types import Spec, Treated

GAMES = sorted(f_irl.GENERATORS)
GIVEN = Given(horizon=1000, fresh=2048, hidden=(16,))


def chain(rng, w, n, horizon):
    """n trajectories of the maximum-entropy law exp(-sum of costs) over uniform walks on a ring."""
    walks = np.array(list(itertools.product(range(3), repeat=horizon)))
    logits = -w[walks].sum(axis=1)
    law = np.exp(logits - logits.max())
    law /= law.sum()
    return walks, law, walks[rng.choice(len(walks), n, p=law)]


def visits(walks, law):
    counts = np.stack([(walks == s).mean(axis=1) for s in range(3)], axis=1)
    return law @ counts


def divergence(f, ours, theirs):
    middle = (ours + theirs) / 2
    return {
        "rkl": np.sum(ours * np.log(ours / theirs)),
        "fkl": np.sum(theirs * np.log(theirs / ours)),
        "js": np.sum(theirs * np.log(theirs / middle)) + np.sum(ours * np.log(ours / middle)),
    }[f]


@pytest.mark.parametrize("f", GAMES)
def test_the_covariance_is_the_gradient_of_the_divergence(f):
    """Against enumeration of every trajectory, within 4 standard errors of 10^5 samples.

    With the exact ratio, T times the covariance of means is the gradient of D_f by the cost of each
    state, where trajectories follow the maximum-entropy law of that cost.
    """
    rng, horizon, n = np.random.default_rng(0), 6, 100_000
    w, theirs = np.array([0.3, -0.2, 0.1]), np.array([0.2, 0.5, 0.3])
    walks, law, drawn = chain(rng, w, n, horizon)
    ours = visits(walks, law)

    exact = np.zeros(3)
    for state in range(3):
        sides = []
        for sign in (1, -1):
            other = w.copy()
            other[state] += sign * 1e-5
            sides.append(divergence(f, visits(*chain(rng, other, 1, horizon)[:2]), theirs))
        exact[state] = (sides[0] - sides[1]) / 2e-5

    g = f_irl.GENERATORS[f](jnp.log(theirs / ours))
    means = np.asarray(g)[drawn].mean(axis=1)
    counts = np.stack([(drawn == s).mean(axis=1) for s in range(3)], axis=1)
    share = np.full(n, 1 / n)
    gradient = jax.grad(lambda c: f_irl.covariance(means, counts @ c, share))(jnp.zeros(3))
    terms = (means - means.mean())[:, None] * counts
    error = horizon * terms.std(axis=0) / np.sqrt(n)
    assert np.all(np.abs(horizon * np.asarray(gradient) - exact) < 4 * error + 1e-6)
    assert np.all(np.abs(exact) > 20 * error)  # so that a wrong sign or generator fails


def test_only_the_cost_is_differentiated():
    def value(x):
        return f_irl.covariance(x, jnp.arange(4.0), jnp.full(4, 0.25))

    assert not np.any(jax.grad(value)(jnp.array([1.0, 2.0, 4.0, 8.0])))


def states_of(rng, mean, n):
    states = (mean + rng.normal(size=(n + 1, 1))).astype(np.float32)
    one = np.ones(n, np.float32)
    return Treated(states, np.zeros((n, 1), np.float32), one, one, one)


def test_the_discriminator_s_optimum_is_the_log_density_ratio():
    """Two Gaussians of unit variance: log rho_E / rho_w is a straight line."""
    rng, spec = np.random.default_rng(0), Spec(1, 1)
    expert, learner = (
        replay.add(replay.empty(spec, 20_000, 0), [states_of(rng, mean, 19_000)], 19_000)
        for mean in (0.5, -0.5)
    )
    s = f_irl.Settings(
        steps_per_step=0.0,
        ratio_steps=3000,
        ratio_batch=512,
        ratio_penalty=0.0,
        ratio_decay=0.0,
        ratio_rate=1e-3,
        width=32,
    )
    base = f_irl.make(s, GIVEN, "rkl")
    cost = base.init(jax.random.key(0), spec, expert)
    cost, _ = jax.jit(base.update)(cost, expert, learner, jax.random.key(1))
    at = np.linspace(-1.5, 1.5, 31)[:, None].astype(np.float32)
    np.testing.assert_allclose(ratio.log_ratio(cost.ratio.layers, at), at[:, 0], atol=0.2)


def test_fkl_s_exponential_stays_finite():
    far = jnp.full((8, 3), 1e6)
    base = f_irl.make(f_irl.Settings(), GIVEN, "fkl")
    cost = base.init(jax.random.key(0), Spec(3, 1), replay.empty(Spec(3, 1), 1024, 0))
    layers = jax.tree.map(lambda x: 1e3 * x, cost.ratio.layers)
    assert np.all(np.isfinite(f_irl.GENERATORS["fkl"](ratio.log_ratio(layers, far))))


def lengths_of(pushes):
    """Trajectory n has pushes[n] transitions, states (n, t), and where odd an absorbing tail."""
    for n, length in enumerate(pushes):
        states = np.stack([np.full(length + 1, n), np.arange(length + 1)], axis=1)
        weights = np.ones(length, np.float32)
        weights[-1] += 9 * (n % 2)
        yield Treated(
            states.astype(np.float32),
            np.zeros((length, 1), np.float32),
            np.ones(length, np.float32),
            weights,
            weights,
        )


@pytest.mark.parametrize("whole", [True, False])
def test_means_over_drawn_trajectories_are_those_of_the_trajectories(whole):
    """Short and long ones count alike, and a state counts by the time it stands for."""
    pushes = [5, 30, 12, 7, 50]
    data = replay.add(replay.empty(Spec(2, 1), 1024, 0), list(lengths_of(pushes)), 104)
    drawn = data.draw_trajectories(jax.random.key(0), 4000, 64, whole=whole)
    number, t = np.moveaxis(np.asarray(drawn.batch.observations), -1, 0)
    assert np.all(number == number[0])
    shares = np.array([np.sum(drawn.share * (number[0] == n)) for n in range(5)])
    np.testing.assert_allclose(shares, 0.2, atol=0.04)
    means = np.sum(np.asarray(drawn.weights) * t, axis=0)
    for n, length in enumerate(pushes):
        weights = np.ones(length)
        weights[-1] += 9 * (n % 2)
        expected = np.sum(weights * np.arange(length)) / weights.sum()
        tolerance = 1e-4 if whole else 0.1 * length**0.5
        assert np.mean(means[number[0] == n]) == pytest.approx(expected, abs=tolerance)


def test_the_two_sums_are_of_different_steps():
    """The same ones would add their own covariance to that of the trajectories."""
    pushes = [5, 30, 12, 7, 50]
    data = replay.add(replay.empty(Spec(2, 1), 1024, 0), list(lengths_of(pushes)), 104)
    drawn = data.draw_trajectories(jax.random.key(0), 3, 8)
    t, by = np.asarray(drawn.batch.observations)[..., 1], np.asarray(drawn.weights)
    first, second = f_irl.split_means(lambda s: s[..., 1], lambda s: s[..., 1], drawn, 8)
    for found, part in ((first, slice(4)), (second, slice(4, None))):
        expected = (by[part] * t[part]).sum(axis=0) / by[part].sum(axis=0)
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert not np.allclose(first, second)


def test_steps_of_a_trajectory_are_drawn_as_its_discounted_occupancy_has_them():
    """One that stays in its last state goes on there; one that was cut starts again."""
    data = replay.add(replay.empty(Spec(2, 1), 1024, 0), list(lengths_of([20, 20])), 40)
    drawn = data.draw_trajectories(jax.random.key(0), 2000, 64, discount=0.9)
    number, t = np.moveaxis(np.asarray(drawn.batch.observations), -1, 0)
    stays = np.append(0.1 * 0.9 ** np.arange(19), 0.9**19)
    cut = 0.9 ** np.arange(20) / np.sum(0.9 ** np.arange(20))
    for n, expected in enumerate((cut, stays)):
        found = np.bincount(t[number == n].astype(int), minlength=20) / np.sum(number == n)
        np.testing.assert_allclose(found, expected, atol=0.006)


@pytest.mark.parametrize(
    "given",
    [{"discount": 0.0}, {"discount": 0.9, "data": "fresh"}, {"discount": 0.9, "samples": 0}],
)
def test_a_discount_that_cannot_be_is_refused(given):
    with pytest.raises(ConfigError, match="discount"):
        f_irl.Settings(**given)


def test_only_the_newest_trajectories_are_drawn_from():
    data = replay.add(replay.empty(Spec(2, 1), 1024, 0), list(lengths_of([20, 20, 20])), 60)
    drawn = data.draw_trajectories(jax.random.key(0), 200, 4, recent=25)
    assert set(np.unique(drawn.batch.observations[..., 0])) == {1.0, 2.0}


def test_a_trajectory_half_overwritten_gives_only_its_own_states():
    data = replay.empty(Spec(2, 1), 1024, 0)
    for _ in range(7):
        data = replay.add(data, list(lengths_of([200])), 200)
    drawn = data.draw_trajectories(jax.random.key(0), 500, 16)
    assert np.asarray(drawn.batch.observations[..., 1]).max() < 200
    np.testing.assert_array_equal(
        np.asarray(drawn.batch.next_observations[..., 1]),
        np.asarray(drawn.batch.observations[..., 1]) + 1,
    )
