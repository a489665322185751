"""What critics and actor learn, from which data, and what is kept of the actor."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from known import (
    KNOWN,
    SAC,
    SPEC,
    double,
    draws_of,
    first_actor,
    first_state,
    learned,
    normals,
    random_batch,
    replay_of,
    same,
    settings,
    update_actor,
    update_critics,
)

from soar_il import rng
from soar_il.engine import parts as engine
from soar_il.engine.collect import Played
from soar_il.learners import critics, sac
from soar_il.networks import gaussian
from soar_il.types import Spec


def test_with_one_pair_neither_sigma_nor_split_changes_a_bit():
    data = replay_of([1, 2, 3], 0, steps=20)
    plain, _ = learned(settings(critics=1), data)
    other, _ = learned(settings(critics=1, sigma=0.0, split="minibatches"), data)
    assert same(plain[:4], other[:4])


def slope_of(optimiser):
    """The gradient that Adam was given in its first step."""
    assert int(optimiser[0].count) == 1
    return jax.tree.map(lambda m: np.asarray(m) / 0.1, optimiser[0].mu)


def check_slope(value, slope, at):
    for seed in range(3):
        draw = np.random.default_rng(seed)
        way = jax.tree.map(lambda x, draw=draw: draw.normal(size=x.shape), at)
        found = sum(jax.tree.leaves(jax.tree.map(np.vdot, slope, way)))
        low, high = (
            float(value(jax.tree.map(lambda x, d, size=size: x + size * d, at, way)))
            for size in (-1e-6, 1e-6)
        )
        assert found == pytest.approx((high - low) / 2e-6, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("optimistic_targets", [False, True])
def test_the_critics_descend_the_slope_of_their_losses(optimistic_targets):
    s = settings(critics=3, optimistic_targets=optimistic_targets)
    state = first_state(settings(critics=3))
    with jax.enable_x64(True):
        start, actor = double(state.critics), double(state.policy.policy)
        batch, costs = random_batch(0, (3, 6), float), normals(4, (3, 6), float)
        key = jax.random.key(5)

        def update(layers):
            return update_critics(start._replace(layers=layers), actor, costs, batch, key, s=s)

        slope = slope_of(update(start.layers)[0].optimiser)
        check_slope(lambda x: 6 * update(x)[1]["critic_loss"], slope, start.layers)


@jax.jit
def actor_step(pi, layers, states, z, sigma):
    def q(states, actions):
        return critics.optimistic_q(layers, states, actions, critics.Rule(sigma))

    moved, seen = sac.update_actor(
        pi, q, None, states, z, SPEC, settings(), critics.Rule(settings().sigma)
    )
    actions, log_pi = gaussian.sample(pi.layers, SPEC, states, z)
    return moved, seen["actor_loss"], log_pi, critics.estimates(layers, states, actions)


@pytest.mark.parametrize("clipped", [0, 8, 16])
def test_the_actor_descends_alpha_log_pi_plus_the_optimistic_q(clipped):
    state = first_state(settings(critics=3))
    with jax.enable_x64(True):
        pi, layers = double(state.policy.policy), double(state.critics.layers)
        states, z = normals(1, (16, 3), float), normals(2, (16, 2), float)
        *_, log_pi, x = jax.device_get(actor_step(pi, layers, states, z, 1.0))
        std = x.std(axis=0)
        places = [0.0, *np.sort(std), 2 * std.max()]
        sigma = np.mean(places[16 - clipped :][:2])
        assert (std > sigma).sum() == clipped
        moved, loss, *_ = actor_step(pi, layers, states, z, sigma)
        expected = np.exp(pi.log_alpha) * log_pi + x.mean(axis=0) - np.minimum(std, sigma)
        assert float(loss) == pytest.approx(expected.mean(), rel=1e-9)

        def value(psi):
            return actor_step(pi._replace(layers=psi), layers, states, z, sigma)[1]

        check_slope(value, slope_of(moved.optimiser), pi.layers)


def test_a_critic_learns_from_its_own_trajectories_only():
    one, other = (learned(settings(), replay_of([10, seed], 2))[0].critics for seed in (20, 99))
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert a.ndim == 0 or same(a[:2], b[:2])
    slopes = (jax.tree.leaves(x.optimiser[0].mu) for x in (one, other))
    assert not any(same(a[2:], b[2:]) for a, b in zip(*slopes, strict=True))


def no_q(states, actions):
    return jnp.zeros(len(states)), jnp.zeros(len(states))


def test_the_actor_learns_from_everyone_s_trajectories():
    s = settings()
    lines, actor = sac.learner(KNOWN, SPEC, s), first_actor(s)

    @jax.jit
    def step(data):
        return lines.update_policy(actor, no_q, 0.0, draws_of(data, s), jax.random.key(0))[0]

    moved = [step(replay_of(seeds, 2)) for seeds in ([10, 20], [10, 99], [99, 20])]
    one, two, three = (jax.tree.leaves(pi.optimiser[0].mu) for pi in moved)
    assert not any(same(a, b) or same(a, c) for a, b, c in zip(one, two, three, strict=True))


def test_critics_that_share_their_data_differ_by_their_minibatches():
    s = settings(split="minibatches", updates_per_step=0.5)
    state = first_state(s)
    twice = jax.tree.map(lambda x: np.concatenate([x[:2], x[:2]]), state.critics.layers)
    equal = state._replace(critics=state.critics._replace(layers=twice, targets=twice))
    after, _ = learned(s, replay_of([10, 20], 0, steps=2), equal)
    assert not any(same(x[:2], x[2:]) for x in jax.tree.leaves(after.critics.optimiser[0].mu))


def test_the_members_of_a_pair_differ_only_in_where_they_started():
    state = first_state(settings())
    equal = jax.tree.map(lambda x: np.repeat(x[:1], 4, axis=0), state.critics.layers)
    state = state._replace(critics=state.critics._replace(layers=equal, targets=equal))
    after, _ = learned(settings(), replay_of([10, 20], 2, steps=5), state)
    assert all(same(x[0], x[1]) for x in jax.tree.leaves(after.critics.layers))
    assert not any(same(x[1], x[2]) for x in jax.tree.leaves(after.critics.layers))


def flat_policy(s, log_std):
    """The same Gaussian everywhere."""
    pi = first_actor(s)
    *hidden, (w, _) = pi.layers
    bias = np.array([0.0, 0.0, log_std, log_std], np.float32)
    return pi._replace(layers=(*hidden, (np.zeros_like(w), bias)))


STATES, Z = np.zeros((64, 3), np.float32), normals(0, (64, 2))


@pytest.mark.parametrize(("log_std", "grows"), [(-4.0, True), (-0.2, False)])
def test_a_tuned_temperature_grows_where_the_policy_is_too_sure(log_std, grows):
    s = settings(tune_alpha=True, target_entropy=-1.0)
    pi = flat_policy(s, log_std)
    after, seen = update_actor(pi, no_q, STATES, Z, SPEC, s)
    assert (float(seen["entropy"]) < -2) == grows
    assert (float(after.log_alpha) > float(pi.log_alpha)) == grows
    slope = float(seen["entropy"]) + 2
    assert slope_of(after.alpha_optimiser) == pytest.approx(slope, rel=1e-5)


def test_a_temperature_that_is_not_tuned_stays():
    pi = flat_policy(settings(), -4.0)
    after, _ = update_actor(pi, no_q, STATES, Z, SPEC, settings())
    assert same(after.log_alpha, pi.log_alpha)
    assert math.exp(pi.log_alpha) == pytest.approx(0.2)


def test_the_absorbing_state_has_no_part_in_the_entropy():
    s = settings(tune_alpha=True)
    pi, states = flat_policy(s, -1.0), STATES.copy()
    states[3:, 2] = 10.0
    entropy = float(update_actor(pi, no_q, states, Z, Spec(3, 2, True), s)[1]["entropy"])
    log_pi = gaussian.play(pi.layers, SPEC, states, Z)[1]
    assert entropy == pytest.approx(-float(np.mean(log_pi[:3])), rel=1e-5)


def kept(actor):
    return engine.kept(SAC, Played(actor, np.int32(0), np.bool_(False), ()))


def test_the_policy_that_is_kept_is_the_running_average_of_the_actor():
    s = settings(average_rate=0.25)
    pi = sac.init(rng.at(0, 0), SPEC, s)[1]
    averages = jax.tree.map(np.asarray, pi.layers)
    for n in range(5):
        pi, _ = update_actor(pi, no_q, STATES, normals(n, Z.shape), SPEC, s)
        averages = jax.tree.map(lambda a, x: a + 0.25 * (np.asarray(x) - a), averages, pi.layers)
    for a, b in zip(jax.tree.leaves(kept(pi)), jax.tree.leaves(averages), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)
    plain = first_actor(settings())
    assert kept(plain) is plain.layers
