"""With one pair of critics SOAR is SAC."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from known import (
    KNOWN,
    SEED,
    SPEC,
    cost_of,
    double,
    draws_of,
    first_actor,
    first_state,
    learned,
    replay_of,
    same,
    settings,
)

from soar_il import rng
from soar_il.bases.api import half_recent
from soar_il.learners import sac


def network(layers, x):
    *hidden, (w, b) = layers
    for v, c in hidden:
        x = jnp.maximum(x @ v + c, 0.0)
    return x @ w + b


def plain_sac(s, state, data, updates):
    """SAC for costs with a tuned temperature; its two critics are two networks."""
    adam = optax.adam(s.learning_rate)
    thetas = [jax.tree.map(lambda x, n=n: x[n], state.critics.layers) for n in (0, 1)]
    members = tuple((theta, theta, adam.init(theta)) for theta in thetas)
    actor = state.policy.policy
    psi, log_alpha = actor.layers, actor.log_alpha
    carry = (psi, adam.init(psi), log_alpha, adam.init(log_alpha), members)

    def act(psi, states, z):
        out = network(psi, states)
        mean, std = out[:, :2], jnp.exp(jnp.clip(out[:, 2:], -20.0, 2.0))
        u = mean + std * z
        density = jnp.exp(-0.5 * z**2) / (std * math.sqrt(2 * math.pi))
        return jnp.tanh(u), jnp.sum(jnp.log(density) + 2 * jnp.log(jnp.cosh(u)), axis=1)

    def q(theta, states, actions):
        return network(theta, jnp.concatenate([states, actions], axis=1))[:, 0]

    @jax.jit
    def step(n, carry):
        psi, psi_adam, log_alpha, alpha_adam, members = carry
        alpha = jnp.exp(log_alpha)
        key = rng.Streams(jax.random.fold_in(rng.at(SEED, 1).key, n))
        draw, noise = jax.random.split(key("critics"))
        recent = half_recent(s.batch, s.recent)
        b = jax.tree.map(lambda x: x[0], data.draw_each(draw, s.batch, 1, recent))
        after = b.next_observations
        actions, log_pi = act(psi, after, jax.random.normal(noise, (1, s.batch, 2))[0])
        following = jnp.maximum(*(q(target, after, actions) for _, target, _ in members))
        goal = cost_of(state.cost, b) + s.discount * b.continues * (following + alpha * log_pi)

        def error(theta):
            return jnp.mean((q(theta, b.observations, b.actions) - goal) ** 2)

        moved = []
        for theta, target, moments in members:
            change, moments = adam.update(jax.grad(error)(theta), moments)
            theta = optax.apply_updates(theta, change)
            target = jax.tree.map(lambda x, y: x + s.target_rate * (y - x), target, theta)
            moved.append((theta, target, moments))

        draw, noise = jax.random.split(key("policy"))
        states = data.draw(draw, s.batch, recent).observations
        z = jax.random.normal(noise, (s.batch, 2))

        def loss(psi):
            actions, log_pi = act(psi, states, z)
            larger = jnp.maximum(*(q(theta, states, actions) for theta, _, _ in moved))
            return jnp.mean(alpha * log_pi + larger), jnp.mean(log_pi)

        slope, log_pi = jax.grad(loss, has_aux=True)(psi)
        change, psi_adam = adam.update(slope, psi_adam)
        psi = optax.apply_updates(psi, change)
        change, alpha_adam = adam.update(-log_pi - 2 * s.target_entropy, alpha_adam)
        return psi, psi_adam, log_alpha + change, alpha_adam, tuple(moved)

    for n in range(updates):
        carry = step(np.int32(n), carry)
    psi, _, log_alpha, _, pair = carry
    both = (jax.tree.map(lambda *x: np.stack(x), *(m[part] for m in pair)) for part in (0, 1))
    return psi, log_alpha, *both


@pytest.mark.parametrize("recent", [0, 5])
def test_one_pair_of_critics_is_plain_sac(recent):
    s = settings(critics=1, tune_alpha=True, recent=recent)
    state, data = first_state(s), replay_of([1, 2, 3], 0, steps=100)
    with jax.enable_x64(True):
        data = jax.tree.map(jnp.asarray, double(data))
        state = state._replace(critics=double(state.critics), policy=double(state.policy))
        after, _ = learned(s, data, state)
        actor = after.policy.policy
        found = actor.layers, actor.log_alpha, *after.critics[:2]
        expected = plain_sac(s, state, data, 100)
        assert int(after.policy.updates) == 100
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-11)


def eager_sac(s, state, data, updates):
    """Plain SAC once more, two networks and 2-D products, an operation at a time."""
    adam = optax.adam(s.learning_rate)
    members = [
        (theta, theta, adam.init(theta))
        for theta in (jax.tree.map(lambda x, n=n: x[n], state.critics.layers) for n in (0, 1))
    ]
    actor = state.policy.policy
    psi, moments, alpha = actor.layers, actor.optimiser, jnp.exp(actor.log_alpha)

    def act(psi, states, z):
        mean, log_std = jnp.split(network(psi, states), 2, axis=-1)
        log_std = jnp.clip(log_std, -20.0, 2.0)
        u = mean + jnp.exp(log_std) * z
        normal = -0.5 * z**2 - log_std - 0.5 * math.log(2 * math.pi)
        slope = 2.0 * (math.log(2.0) - u - jax.nn.softplus(-2.0 * u))
        return jnp.tanh(u), jnp.sum(normal - slope, axis=-1)

    def q(theta, states, actions):
        return network(theta, jnp.concatenate([states, actions], axis=-1))[..., 0]

    def error(theta, batch, goal):
        return jnp.mean((q(theta, batch.observations, batch.actions) - goal) ** 2)

    def loss(psi, pair, states, z):
        actions, log_pi = act(psi, states, z)
        return jnp.mean(
            alpha * log_pi + jnp.maximum(*(q(theta, states, actions) for theta in pair))
        )

    for n in range(updates):
        (batch, z), (states, noise) = draws(s, data, n)
        b, z = jax.tree.map(lambda x: x[0], batch), z[0]
        actions, log_pi = act(psi, b.next_observations, z)
        larger = jnp.maximum(*(q(target, b.next_observations, actions) for _, target, _ in members))
        goal = cost_of(state.cost, b) + s.discount * b.continues * (larger + alpha * log_pi)
        moved = []
        for theta, target, theirs in members:
            change, theirs = adam.update(jax.grad(error)(theta, b, goal), theirs)
            theta = optax.apply_updates(theta, change)
            moved.append((theta, optax.incremental_update(theta, target, s.target_rate), theirs))
        members = moved
        slope = jax.grad(loss)(psi, [m[0] for m in members], states, noise)
        change, moments = adam.update(slope, moments)
        psi = optax.apply_updates(psi, change)
    stacked = [jax.tree.map(lambda *x: np.stack(x), *(m[part] for m in members)) for part in (0, 1)]
    return psi, *stacked


def draws(s, data, n):
    """What update n draws: a batch and noise for the critics, states and noise for the actor."""
    key = rng.Streams(jax.random.fold_in(rng.at(SEED, 1).key, n))
    (draw, noise), (draw_pi, noise_pi) = map(jax.random.split, (key("critics"), key("policy")))
    batch = data.draw_each(draw, s.batch, s.critics)
    states = data.draw(draw_pi, s.batch).observations
    z = jax.random.normal(noise, batch.actions.shape)
    return (batch, z), (states, jax.random.normal(noise_pi, (s.batch, SPEC.action)))


def test_one_pair_of_critics_is_plain_sac_bit_for_bit():
    """In float32, an operation at a time: compiled as a whole, each program groups its own sums."""
    s = settings(critics=1, hidden=(32, 32), batch=16)
    data, state = replay_of(range(4), 0), first_state(s)
    pair, actor = state.critics, first_actor(s)
    lines, minibatches = sac.learner(KNOWN, SPEC, s), draws_of(data, s)
    for n in range(20):
        key = rng.Streams(jax.random.fold_in(rng.at(SEED, 1).key, n))
        pair, _ = lines.estimate(pair, actor, state.cost, minibatches, key("critics"))
        q = lines.optimistic_q(pair, state.cost)[1]
        actor, _ = lines.update_policy(actor, q, state.cost, minibatches, key("policy"))
    assert same((actor.layers, pair.layers, pair.targets), eager_sac(s, state, data, 20))


def test_beside_the_expert_s_share_half_of_the_learner_s_own_is_recent_too():
    """In the critics' minibatches and in the actor's."""
    own, expert, key = replay_of([1, 2], 0), replay_of([3], 0), jax.random.key(0)
    state = first_state(settings(critics=1))

    def moved(recent):
        s = settings(critics=1, recent=recent, expert_share=0.3)
        lines, data, actor = sac.learner(KNOWN, SPEC, s), draws_of(own, s, expert), first_actor(s)
        pair, _ = lines.estimate(state.critics, actor, state.cost, data, key)
        q = lines.optimistic_q(state.critics, state.cost)[1]
        actor, _ = lines.update_policy(actor, q, state.cost, data, key)
        return pair.layers[0][0], actor.layers[0][0]

    both = (jax.jit(moved, static_argnums=0)(recent) for recent in (0, 1))
    for alike, half in zip(*both, strict=True):
        assert not np.array_equal(alike, half)
