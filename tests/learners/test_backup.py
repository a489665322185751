"""What the critics are led towards, and what the actor sees of them."""

import math

import jax
import known
import numpy as np
import optax
import pytest
from known import (
    SPEC,
    first_actor,
    first_state,
    noise_of,
    normals,
    random_batch,
    same,
    settings,
    update_critics,
)

from soar_il.learners import critics
from soar_il.networks import gaussian


def linear_critics(number, seed=0):
    """w . (s, a) + b."""
    layers, targets = (
        ((normals(seed + n, (2 * number, 5, 1)), normals(seed + n + 2, (2 * number, 1))),)
        for n in range(2)
    )
    return critics.Critics(layers, targets, optax.adam(1e-3).init(layers))


def values(layers, states, actions):
    """Q of the larger of each pair, [L, ...], by hand."""
    ((w, b),) = layers
    x = np.concatenate([states, actions], axis=-1)
    q = np.stack([x @ w[n, :, 0] + b[n, 0] for n in range(len(w))])
    return np.maximum(q[0::2], q[1::2])


KEY = jax.random.key(5)


def backup(c, batch, s, costs=0.0, alpha=0.2):
    """The backup, and the actions and log pi it is made with."""
    actor = first_actor(settings())._replace(log_alpha=np.float32(math.log(alpha)))
    costs = np.broadcast_to(np.float32(costs), batch.continues.shape)
    goal = known.backup(c, actor, costs, batch, KEY, s=s)
    drawn = gaussian.play(actor.layers, SPEC, batch.next_observations, noise_of(KEY, batch))
    return jax.device_get((goal, *drawn))


SHAPE = (2, 50)
BATCH = random_batch(0, SHAPE)
ONES = np.ones(SHAPE, np.float32)


def test_the_backup_is_cost_plus_the_larger_target_of_the_pair_plus_entropy():
    s, c = settings(discount=0.9), linear_critics(2)
    costs = np.linspace(-1, 1, 100).reshape(SHAPE)
    found, actions, log_pi = backup(c, BATCH, s, costs)
    after = BATCH.next_observations
    own = np.stack([values(c.targets, after[ell], actions[ell])[ell] for ell in (0, 1)])
    expected = costs + 0.9 * BATCH.continues * (own + 0.2 * log_pi)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_the_backup_looks_only_at_what_follows():
    s, c = settings(discount=0.9), linear_critics(2)
    elsewhere = BATCH._replace(observations=BATCH.observations + 1, actions=-BATCH.actions)
    other_critics = c._replace(layers=linear_critics(2, seed=9).layers)
    later = BATCH._replace(next_observations=BATCH.next_observations + 1)
    found = backup(c, BATCH, s)[0]
    assert same(backup(c, elsewhere, s)[0], found)
    assert same(backup(other_critics, BATCH, s)[0], found)
    assert np.all((backup(c, later, s)[0] != found) == (BATCH.continues == 1))


def test_an_end_has_no_value_after_it_and_a_cut_has():
    s, c = settings(discount=0.9), linear_critics(2)
    assert same(backup(c, BATCH._replace(continues=0 * ONES), s, costs=1.0)[0], ONES)
    assert np.all(backup(c, BATCH._replace(continues=ONES), s, costs=1.0)[0] != 1)


def test_randomness_is_worth_alpha_a_nat():
    s, c, batch = settings(discount=0.9), linear_critics(2), BATCH._replace(continues=ONES)
    (low, _, log_pi), (high, _, _) = (backup(c, batch, s, alpha=x) for x in (0.1, 1.1))
    np.testing.assert_allclose(high - low, 0.9 * log_pi, atol=1e-4)


def optimistic(x, sigma):
    return x.mean(axis=0) - np.minimum(x.std(axis=0), sigma)


@pytest.mark.parametrize("sigma", [0.0, 0.7])
def test_optimistic_targets_are_the_mean_of_all_pairs_minus_the_clipped_spread(sigma):
    s = settings(critics=2, optimistic_targets=True, sigma=sigma, discount=0.9)
    c = linear_critics(2)
    found, actions, log_pi = backup(c, BATCH, s)
    q = optimistic(values(c.targets, BATCH.next_observations, actions), sigma)
    expected = 0.9 * BATCH.continues * (q + 0.2 * log_pi)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@jax.jit
def seen_by_actor(layers, states, actions, sigma):
    """The optimistic Q, its spread, and its slope in the actions."""

    def total(actions):
        q, spread = critics.optimistic_q(layers, states, actions, critics.Rule(sigma))
        return q.sum(), (q, spread)

    slope, (q, spread) = jax.grad(total, has_aux=True)(actions)
    return q, spread, slope


@pytest.mark.parametrize("sigma", [0.0, 0.7, 100.0])
def test_the_actor_sees_the_mean_of_all_pairs_minus_the_clipped_spread(sigma):
    c, batch = linear_critics(3), random_batch(0, (40,))
    q, spread, _ = seen_by_actor(c.layers, batch.observations, batch.actions, sigma)
    x = values(c.layers, batch.observations, batch.actions)
    np.testing.assert_allclose(spread, x.std(axis=0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(q, optimistic(x, sigma), rtol=1e-4, atol=1e-5)


def test_a_bonus_that_is_clipped_has_no_slope():
    c, batch = linear_critics(3), random_batch(0, (40,))
    spread = np.asarray(seen_by_actor(c.layers, batch.observations, batch.actions, 0.0)[1])
    some, none, full = (
        np.asarray(seen_by_actor(c.layers, batch.observations, batch.actions, sigma)[2])
        for sigma in (np.median(spread), 0.0, 100.0)
    )
    clipped = spread > np.median(spread)
    np.testing.assert_allclose(some[clipped], none[clipped], atol=1e-6)
    np.testing.assert_allclose(some[~clipped], full[~clipped], atol=1e-6)
    assert np.abs(none - full).max(axis=1).min() > 1e-3


@pytest.mark.parametrize("rate", [0.005, 1.0])
def test_targets_follow_the_critics_at_their_rate(rate):
    start, actor = first_state(settings()).critics, first_actor(settings())
    assert same(start.targets, start.layers)
    start = start._replace(targets=jax.tree.map(lambda x: np.asarray(x) + 1, start.targets))
    s = settings(target_rate=rate)
    moved, _ = update_critics(start, actor, ONES, BATCH, KEY, s=s)
    assert not same(moved.layers, start.layers)
    parts = jax.device_get((start.targets, moved.layers, moved.targets))
    for old, goal, new in zip(*map(jax.tree.leaves, parts), strict=True):
        np.testing.assert_allclose(new, (1 - rate) * old + rate * goal, atol=1e-6)
