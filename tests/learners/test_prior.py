"""Entropy relative to a prior: an actor that is its prior stays there, whatever was drawn."""

import jax
import jax.numpy as jnp
import numpy as np
from known import backup, update_actor

from soar_il import rng
from soar_il.learners import sac
from soar_il.networks import gaussian
from soar_il.types import Batch, Spec

SPEC = Spec(3, 2)
S = sac.Settings(hidden=(16,), critics=2, alpha=0.5, discount=0.9)


def nowhere(states, actions):
    """Costs that do not depend on the action."""
    return jnp.zeros(len(states)), jnp.zeros(len(states))


def drawn(n, size, seed=0):
    return np.random.default_rng(seed).normal(size=(n, size)).astype(np.float32)


def actor(seed):
    return sac.init(rng.at(seed, 0), SPEC, S)[1]


def test_an_actor_that_is_its_prior_stays_there():
    pi = actor(0)

    def prior(states, actions):
        return gaussian.log_prob(pi.layers, states, actions)

    moved, _ = update_actor(pi, nowhere, drawn(8, 3), drawn(8, 2), SPEC, S, prior)
    for old, new in zip(jax.tree.leaves(pi.layers), jax.tree.leaves(moved.layers), strict=True):
        np.testing.assert_array_equal(old, new)


def test_on_average_the_actor_descends_the_divergence_from_its_prior():
    """KL of squashed Gaussians is that of the Gaussians, known in closed form."""
    n = 100_000
    states, noise = jnp.ones((n, 3)), drawn(n, 2)
    pi, other = actor(0), actor(1)
    theirs = gaussian.moments(other.layers, states[:1])

    def divergence(layers):
        (m, log_s), (m_q, log_q) = gaussian.moments(layers, states[:1]), theirs
        variance, apart = jnp.exp(2 * (log_s - log_q)), (m - m_q) * jnp.exp(-log_q)
        return 0.5 * jnp.sum(variance + apart**2 - 1) - jnp.sum(log_s - log_q)

    def prior(states, actions):
        return gaussian.log_prob(other.layers, states, actions)

    def gradient(states, noise):
        """Of one minibatch: what a step of plain descent would have to be."""

        def loss(layers):
            return sac.actor_loss(layers, jnp.float32(1), nowhere, prior, states, noise, SPEC)[0]

        return jax.grad(loss)(pi.layers)

    each = jax.jit(jax.vmap(gradient))(
        states.reshape(100, 1000, 3), jnp.asarray(noise).reshape(100, 1000, 2)
    )
    for g, exact in zip(
        jax.tree.leaves(each), jax.tree.leaves(jax.grad(divergence)(pi.layers)), strict=True
    ):
        error = np.std(g, axis=0, ddof=1) / np.sqrt(len(g))
        assert np.all(np.abs(np.mean(g, axis=0) - exact) <= 4.5 * error + 1e-6)


def test_in_the_absorbing_state_no_prior_is_paid_for():
    spec = Spec(3, 2, absorbing=True)
    c, pi = sac.init(rng.at(0, 0), spec, S)
    states = np.stack([drawn(8, 3), drawn(8, 3, 1)])
    states[:, ::2, -1] = 0
    one = np.ones((2, 8), np.float32)
    alive = np.asarray(spec.alive(states))
    batch = Batch(
        states, np.zeros((2, 8, 2), np.float32), states, one, one, one == 0, np.int32(one)
    )
    key = jax.random.key(2)
    plain = backup(c, pi, 0 * one, batch, key, spec=spec, s=S)

    def prior(states, actions):
        return jnp.full(states.shape[:-1], 3.0)

    held = backup(c, pi, 0 * one, batch, key, spec=spec, s=S, log_prior=prior)
    assert 0 < np.sum(alive) < alive.size
    np.testing.assert_allclose(held - plain, np.where(alive, -0.9 * 0.5 * 3.0, 0.0), atol=1e-5)
