"""AIRL: what its discriminator is told of the policy, and the reward that comes out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from soar_il.bases import BASES, airl
from soar_il.bases.given import Given
from soar_il.engine import loop, replay
from soar_il.networks import gaussian, mlp
from soar_il.types import Batch, Spec, Treated

STATES, ACTIONS, GAMMA = 5, 3, 0.8
SPEC = Spec(STATES, ACTIONS)
NEXT = np.array([[1, 2, 4], [0, 3, 2], [3, 4, 1], [4, 0, 2], [2, 1, 3]])  # where an action leads
REWARD = np.array([0.0, 1.0, -0.5, 0.5, -1.0])
ONE = np.eye(STATES, dtype=np.float32)
PAIRS = np.stack(np.meshgrid(range(STATES), range(ACTIONS), indexing="ij"), -1).reshape(-1, 2)


def soft_policy(reward):
    """log pi of the policy of temperature one, for a reward of pairs [S, A]."""
    v = np.zeros(STATES)
    for _ in range(200):
        q = reward + GAMMA * v[NEXT]
        v = np.log(np.sum(np.exp(q), axis=1))
    return q - v[:, None]


def played(log_pi, seed, episodes=100, length=20):
    """Episodes from everywhere, with states and actions as unit vectors."""
    rng = np.random.default_rng(seed)
    s, states, actions = rng.integers(STATES, size=episodes), [], []
    for _ in range(length):
        chances = np.cumsum(np.exp(log_pi[s]), axis=1)
        a = np.minimum((rng.random((episodes, 1)) > chances).sum(axis=1), ACTIONS - 1)
        states.append(s)
        actions.append(a)
        s = NEXT[s, a]
    states, actions = np.array([*states, s]).T, np.array(actions).T
    one = np.ones(length, np.float32)
    unit = np.eye(ACTIONS, dtype=np.float32)
    treated = [
        Treated(ONE[x], unit[y], one, one, one) for x, y in zip(states, actions, strict=True)
    ]
    return replay.add(replay.empty(SPEC, 4096, 0), treated, episodes * length)


def every_pair():
    s, a = PAIRS.T
    one = jnp.ones(len(s))
    actions = np.eye(ACTIONS, dtype=np.float32)[a]
    return Batch(ONE[s], actions, ONE[NEXT[s, a]], one, one, one > 1, jnp.int32(one))


def made(**settings):
    more = {
        "smooth": "none",
        "recent": 0,
        "discount": 1.0,
        "hidden": (32,),
        **settings,
    }
    more |= {"learning_rate": 5e-3, "batch": 256, "steps_per_step": 0.05}
    return BASES["airl"].make(airl.Settings(**more), Given(20, 4096, (16,), GAMMA))


def test_a_reward_of_states_is_recovered_up_to_a_constant():
    """Alternating with the exact policy of temperature one for what has been learned so far."""
    base = made()
    expert = played(soft_policy(REWARD[:, None] + np.zeros((1, ACTIONS))), seed=0)

    @jax.jit
    def update(cost, data, key, table):
        def log_pi(states, actions):
            return table[jnp.argmax(states, axis=-1), jnp.argmax(actions, axis=-1)]

        return base.update(cost, expert, data, key, log_pi)

    cost = base.init(jax.random.key(0), SPEC, expert)
    for n in range(30):
        f = -np.asarray(base.cost(cost, every_pair()), np.float64).reshape(STATES, ACTIONS)
        table = soft_policy(f)
        cost, seen = update(cost, played(table, n + 1), jax.random.key(n), jnp.float32(table))
    g = np.asarray(mlp.apply(cost.fit.layers[:2], jnp.asarray(ONE), jnp.tanh))[:, 0]
    np.testing.assert_allclose(g - g.mean(), REWARD - REWARD.mean(), atol=0.25)
    wrong = np.asarray(f)[:, 0]  # f itself has the potential in it
    assert np.max(np.abs(wrong - wrong.mean() - REWARD + REWARD.mean())) > 0.4
    assert seen["discriminator_loss"] == pytest.approx(2 * np.log(2), abs=0.02)


def test_the_best_f_is_the_log_ratio_plus_log_pi():
    """So that a policy that is told wrong moves f by as much."""
    base, uniform = made(inputs="pairs"), np.full((STATES, ACTIONS), -np.log(ACTIONS))
    data = [played(uniform, seed) for seed in (0, 1)]
    values = []
    for shift in (0.0, 2.0):
        cost = base.init(jax.random.key(0), SPEC, data[0])
        for n in range(5):
            cost, _ = base.update(
                cost, *data, jax.random.key(n), lambda s, a, d=shift: jnp.full(len(s), d)
            )
        values.append(-np.asarray(base.cost(cost, every_pair())))
    np.testing.assert_allclose(values[0], 0.0, atol=0.3)
    np.testing.assert_allclose(values[1], 2.0, atol=0.3)


def test_where_nothing_follows_there_is_no_potential():
    base = made()
    cost = base.init(jax.random.key(0), SPEC, played(np.log(np.full((STATES, ACTIONS), 1 / 3)), 0))
    batch = every_pair()
    ended = batch._replace(continues=jnp.zeros(len(PAIRS)))
    other = ended._replace(next_observations=batch.next_observations[::-1])
    np.testing.assert_array_equal(base.cost(cost, ended), base.cost(cost, other))
    assert np.all(base.cost(cost, ended) != base.cost(cost, batch))


def test_no_density_of_the_policy_is_believed_beyond_ten_a_coordinate():
    base, data = made(), [played(soft_policy(np.zeros((STATES, ACTIONS))), s) for s in (0, 1)]
    costs = []
    for told in (30.0, 1e6):
        cost = base.init(jax.random.key(0), SPEC, data[0])
        cost, _ = base.update(
            cost, *data, jax.random.key(0), lambda s, a, d=told: jnp.full(len(s), d)
        )
        costs.append(np.asarray(base.cost(cost, every_pair())))
    np.testing.assert_array_equal(*costs)


def test_the_engine_tells_the_density_of_the_policy_that_has_played():
    """In the absorbing state there is one action, so that its log pi is 0."""
    spec = Spec(3, 2, absorbing=True)
    layers = gaussian.init(jax.random.key(1), spec, (8,))
    states = jnp.asarray([[0.3, -0.2, 0.0], [0.0, 0.0, 10.0]])
    actions = jnp.asarray([[0.5, -0.1], [0.0, 0.0]])
    told = []

    def update(cost, expert, data, key, log_pi):
        told.append(log_pi(states, actions))
        return cost, {"told": told[-1]}

    base = made()._replace(update=update)
    _, seen = loop.compiled_update(base, spec)((), None, None, layers, jax.random.key(0))
    density = gaussian.log_prob(layers, states, actions)
    np.testing.assert_allclose(seen["told"], [density[0], 0.0], rtol=1e-6)
