"""CSIL: the clone is a clone, it forgets away from the data, and the learner is held to it."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny
from hypothesis import given, settings
from hypothesis import strategies as st
from known import SAC, backup, noise_of, same

from soar_il import rng
from soar_il.bases import cloning, csil, csil_plain, reversion
from soar_il.bases.api import Clone, Look
from soar_il.bases.given import Given
from soar_il.demos import Demos
from soar_il.engine import parts, replay
from soar_il.engine.draws import Draws
from soar_il.engine.parts import Kit
from soar_il.learners import critics, sac
from soar_il.learners.sac import Settings
from soar_il.networks import gaussian
from soar_il.types import Batch, Spec, Treated

SPEC = Spec(3, 2)
GAIN = np.array([[0.8, -0.4, 0.2], [0.1, 0.5, -0.6]], np.float32)
SIGMA = np.array([0.05, 0.15], np.float32)  # small: squashing bends the mean of the rest


def demonstrations(n=8, length=500, seed=0):
    """A linear expert before squashing, with a known variance in each action."""
    generator = np.random.default_rng(seed)
    for _ in range(n):
        states = 0.7 * generator.normal(size=(length + 1, 3)).astype(np.float32)
        noise = SIGMA * generator.normal(size=(length, 2)).astype(np.float32)
        one = np.ones(length, np.float32)
        yield Treated(states, np.tanh(states[:-1] @ GAIN.T + noise), one, one, one)


@pytest.fixture(scope="module")
def expert():
    return replay.add(replay.empty(SPEC, 8192, 0), list(demonstrations()), 0)


GIVEN = Given(horizon=500, fresh=8192, hidden=(64, 64))


def small(**more):
    return csil.Settings(**{"steps": 4000, "centres": 64, **more})


def plain(**more):
    return csil_plain.make(csil_plain.Settings(**{"steps": 4000, **more}), GIVEN)


def cloned(expert, steps, faithful):
    s = cloning.Settings(steps=steps)
    return cloning.cloned(jax.random.key(0), SPEC, expert, s, GIVEN.hidden, faithful)


@pytest.mark.parametrize("faithful", [True, False])
def test_cloning_recovers_the_gain_and_the_variance(expert, faithful):
    layers = cloned(expert, 4000, faithful)
    states = 0.5 * np.random.default_rng(1).normal(size=(2000, 3)).astype(np.float32)
    mean, log_std = gaussian.moments(layers, states)
    gain = np.linalg.lstsq(states, np.asarray(mean), rcond=None)[0].T
    np.testing.assert_allclose(gain, GAIN, atol=0.06)
    np.testing.assert_allclose(np.exp(log_std).mean(axis=0), SIGMA, rtol=0.15)


@settings(max_examples=30, deadline=None)
@given(  # few shapes: each is compiled
    st.sampled_from([1, 7, 40]),
    st.sampled_from([1, 4, 20]),
    st.floats(0.05, 3.0),
    st.integers(0, 10**6),
)
def test_away_from_every_centre_all_of_the_prior_is_left(m, size, width, seed):
    generator = np.random.default_rng(seed)
    centres = jnp.asarray(generator.normal(size=(m, size)), jnp.float32)
    r = reversion._made(centres, jnp.float32(width))
    away = generator.normal(size=(50, size))
    away *= (8 * width * size**0.5 + np.abs(centres).max() * size) / np.linalg.norm(
        away, axis=1, keepdims=True
    )
    assert np.all(np.asarray(reversion.left(r, jnp.asarray(away, jnp.float32))) > 0.99)
    assert np.all(np.asarray(reversion.left(r, centres)) < 0.05)


def test_the_width_leaves_the_asked_level_at_demonstrated_states(expert):
    keys = jax.random.split(jax.random.key(0))
    centres, others = (expert.draw(k, 64).observations for k in keys)
    r = reversion.fit(centres, others, 0.1)
    assert np.mean(reversion.left(r, others) == 0) == pytest.approx(0.9, abs=0.02)
    whole = r._replace(usual=0.0)
    assert np.mean(reversion.left(whole, others)) == pytest.approx(0.1, abs=0.01)


@pytest.fixture(scope="module")
def clone(expert):
    base = csil.make(small(), GIVEN)
    return base, base.init(jax.random.key(0), SPEC, expert)


def test_the_clone_s_density_is_its_own_near_and_the_prior_s_far(clone, expert):
    _, cost = clone
    batch = expert.draw(jax.random.key(1), 200)
    near = csil.log_density(cost, cost.layers, batch.observations, batch.actions)
    own = gaussian.log_prob(cost.layers, batch.observations, batch.actions)
    assert np.mean(np.abs(near - own) < 1e-3) > 0.8  # nine in ten states are known
    far = 100.0 + batch.observations
    zero = jnp.zeros_like(batch.actions)
    prior = gaussian.squashed_log_prob(zero, zero + 0.5 * math.log(csil.PRIOR), batch.actions)
    np.testing.assert_allclose(
        csil.log_density(cost, cost.layers, far, batch.actions), prior, atol=1e-3
    )


def test_expert_actions_are_cheap_others_dear_and_nothing_is_known_far_away(clone, expert):
    base, cost = clone
    batch = expert.draw(jax.random.key(1), 500)
    uniform = jax.random.uniform(jax.random.key(2), batch.actions.shape, minval=-1, maxval=1)
    theirs = base.cost(cost, batch)
    others = base.cost(cost, batch._replace(actions=uniform))
    far = base.cost(cost, batch._replace(observations=batch.observations + 50, actions=uniform))
    assert np.mean(theirs) < -0.5 < 0.5 < np.mean(others)
    assert abs(np.mean(far)) < 0.2  # near the uniform density, where the reward is zero
    assert np.min(theirs) >= -csil.MOST


def test_plain_is_minus_the_log_density_of_the_clone(expert):
    base = plain()
    cost = base.init(jax.random.key(0), SPEC, expert)
    batch = expert.draw(jax.random.key(1), 100)
    np.testing.assert_allclose(
        base.cost(cost, batch),
        np.clip(-gaussian.log_prob(cost.layers, batch.observations, batch.actions), -10, 10),
        rtol=1e-5,
    )
    again, _ = base.update(cost, expert, expert, jax.random.key(2))
    assert all(a is b for a, b in zip(jax.tree.leaves(cost), jax.tree.leaves(again), strict=True))


@pytest.mark.parametrize("faithful", [True, False])
def test_plain_clones_as_it_is_told(expert, faithful):
    found = plain(steps=50, faithful=faithful).init(jax.random.key(0), SPEC, expert).layers
    wanted, other = (cloned(expert, 50, way) for way in (faithful, not faithful))
    assert same(found, wanted)
    assert not same(found, other)


def test_log_prob_is_that_of_the_sample():
    layers = gaussian.init(jax.random.key(0), SPEC, (16,))
    states = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
    noise = np.random.default_rng(1).normal(size=(64, 2)).astype(np.float32)
    actions, log_pi = gaussian.sample(layers, SPEC, states, noise)
    inside = np.abs(actions).max(axis=1) < 0.999
    found = gaussian.log_prob(layers, states, actions)
    np.testing.assert_allclose(found[inside], log_pi[inside], rtol=1e-3, atol=1e-3)


def test_a_linear_expert_is_cloned_from_its_demonstrations(tmp_path):
    """From a file to a policy that acts: states meet the actions that were taken in them."""
    gain, generator = np.array([[-0.5, 0.4], [0.8, -1.0]]), np.random.default_rng(0)
    states = generator.uniform(-1, 1, (20, 41, 2)).astype(np.float32)
    Demos.from_arrays(states, states[:, :-1] @ gain.T).save(tmp_path / "linear.demos")
    demos = Demos.load(tmp_path / "linear.demos")
    cost = {**tiny.cost("csil"), "steps": 4000, "batch": 64}
    with tiny.imitator(base="csil", demos=demos, cost=cost) as it:
        asked = generator.uniform(-0.8, 0.8, (200, 2)).astype(np.float32)
        found = np.linalg.lstsq(asked, it.predict(asked)[0], rcond=None)[0].T
    np.testing.assert_allclose(found, gain, atol=0.05)


def test_the_actor_starts_as_the_clone_and_acts_as_it():
    with tiny.imitator(base="csil") as it:
        state, key = it._run.state, jax.random.key(0)
        assert same(state.policy.policy.layers, state.cost.layers)
        assert bool(state.policy.cloned)
        assert same(it._run.built.kept(state.policy), state.cost.layers)
        still = jax.tree.map(jnp.zeros_like, state.policy.policy)
        one, two = (
            it._run.parts.collect(state.policy._replace(policy=x), key)[0]
            for x in (state.policy.policy, still)
        )
        assert not np.allclose(one.actions, two.actions)  # as if it played uniformly


def test_trials_begin_with_the_clone():
    """Not with the random network that it replaced, which may have had other sizes too."""
    with tiny.imitator(base="csil", critics=1) as imitator:
        pi = imitator._run.state.policy
        clone = jax.tree.leaves(pi.policy.layers)
        for tried in (pi.trial.kept, pi.trial.candidate):
            pairs = zip(jax.tree.leaves(tried), clone, strict=True)
            assert all(np.array_equal(mine, own) for mine, own in pairs)


def test_a_minibatch_has_the_expert_s_share(expert):
    other = replay.add(
        replay.empty(SPEC, 8192, 0),
        [t._replace(observations=t.observations + 100) for t in demonstrations(seed=1)],
        0,
    )

    def drawn(recent=0):
        s = Settings(batch=100, critics=3, expert_share=0.3, split="minibatches", recent=recent)
        key = jax.random.key(0)

        def both(own, theirs):
            draws = Draws(own, theirs, s, shows_expert=False)
            return draws.each(key), draws.shared(key)

        return jax.jit(both)(other, expert)

    each, one = drawn()
    assert each.observations.shape == (3, 100, 3)
    assert one.observations.shape == (100, 3)
    for batch in (each, one):
        theirs = np.asarray(batch.observations[..., 0]) < 50
        np.testing.assert_array_equal(theirs.sum(axis=-1), 30)
        np.testing.assert_array_equal(batch.expert, theirs)
    newest = np.asarray(other.at(other.tables[0, other.head[0] - 1]).observations)
    for batch in drawn(recent=1):
        last = np.all(np.asarray(batch.observations) == newest, axis=-1)
        assert np.all(last[..., :35])
        assert np.all(last.sum(axis=-1) < 45)


def test_only_a_loss_that_looks_at_demonstrations_is_shown_them(expert):
    s, key = Settings(batch=20), jax.random.key(0)
    shown = Draws(expert, expert, s, shows_expert=True).demonstrations(key)
    assert shown.observations.shape == (20, 3)
    assert np.all(shown.expert)
    assert Draws(expert, expert, s, shows_expert=False).demonstrations(key) is None


def test_the_prior_stands_in_backup_and_floor():
    s = Settings(hidden=(16,), critics=2, alpha=0.5, discount=0.9)
    c, actor = sac.init(rng.at(0, 0), SPEC, s)
    states = np.random.default_rng(0).normal(size=(2, 8, 3)).astype(np.float32)
    one, key = np.ones((2, 8), np.float32), jax.random.key(1)
    batch = Batch(
        states, np.zeros((2, 8, 2), np.float32), states, one, one, one == 0, np.int32(one)
    )
    plain = backup(c, actor, 0 * one, batch, key, s=s)
    held = backup(c, actor, 0 * one, batch, key, s=s, log_prior=lambda s, a: jnp.sum(a, -1))
    actions, _ = gaussian.sample(actor.layers, SPEC, states, noise_of(key, batch))
    np.testing.assert_allclose(held, plain - 0.9 * 0.5 * np.sum(actions, -1), rtol=1e-4, atol=1e-5)
    floored = backup(c, actor, 0 * one, batch, key, s=s, least=100.0)
    entropy = (
        0.5 * 2 * np.log(2)
    )  # alpha times the uniform policy's, which a soft value may go below
    np.testing.assert_allclose(floored, 0.9 * (100.0 - entropy / 0.1), rtol=1e-6)
    held = backup(c, actor, 0 * one, batch, key, s=s, least=100.0, log_prior=lambda s, a: a[..., 0])
    np.testing.assert_allclose(held, 90.0, rtol=1e-6)  # relative to a prior there is no such gain


def test_critics_begin_as_those_of_the_expert(expert):
    """Where every cost is one, the cost-to-go of whoever acts is 1 / (1 - gamma)."""
    layers = gaussian.init(jax.random.key(0), SPEC, (32,))
    base = csil.make(small(action_slope=0.0), GIVEN)._replace(
        init=lambda key, spec, expert: (),
        cost=lambda cost, batch: jnp.ones(batch.continues.shape),
        clone=Clone(lambda cost: layers, critic_steps=3000),
    )
    s = Settings(hidden=(32,), critics=2, discount=0.9, batch=64, target_rate=0.05)
    state = parts.initial(Kit(SAC, base, SPEC, s), rng.at(0, 0), expert)
    batch = expert.draw(jax.random.key(0), 64)
    q = critics.estimates(state.critics.layers, batch.observations, batch.actions)
    np.testing.assert_allclose(q, 10.0, atol=0.5)


def test_the_slope_term_is_the_root_mean_square_of_the_action_gradient(clone, expert):
    base, cost = clone
    s = Settings(hidden=(16,), critics=2)
    c = critics.init(jax.random.key(0), SPEC, s)
    batch = expert.draw(jax.random.key(0), 100)
    q, goal = np.ones((2, 2, 5), np.float32), np.full((2, 5), 3, np.float32)

    def everywhere(states, actions):
        return critics.each(c.layers, states, actions)

    look = Look(q, goal, everywhere, None, None, 0.0, None, None, batch, s.discount)
    found = base.critic_loss(cost, look) - 4 * 2.0**2  # less the squared error of 2L critics
    total = 0.0
    for n in range(4):
        squares = []
        for state, action in zip(batch.observations[:16], batch.actions[:16], strict=True):
            slopes = jax.grad(
                lambda a, o=state, n=n: critics.each(c.layers, o[None], a[None])[n, 0]
            )
            squares.append(np.sum(np.asarray(slopes(action)) ** 2))
        total += np.sqrt(np.mean(squares))
    assert float(found) == pytest.approx(total, rel=1e-4)


def test_refinement_moves_the_reward_and_not_the_prior(expert):
    base = csil.make(small(steps=300, refine=1e-3), GIVEN)
    cost = base.init(jax.random.key(0), SPEC, expert)
    learner = replay.add(replay.empty(SPEC, 8192, 0), list(demonstrations(2, 200, seed=5)), 50)
    after, seen = jax.jit(base.update)(cost, expert, learner, jax.random.key(1))
    assert np.isfinite(seen["cost_gap"])
    moved = zip(jax.tree.leaves(cost.judge), jax.tree.leaves(after.judge), strict=True)
    assert any(not np.array_equal(a, b) for a, b in moved)
    kept = zip(jax.tree.leaves(cost.layers), jax.tree.leaves(after.layers), strict=True)
    assert all(np.array_equal(a, b) for a, b in kept)


def test_far_from_the_clone_nothing_costs_more_than_the_least_density(expert):
    """There its deviation may be anything, and one transition must not rule the critics."""
    clone = plain().init(jax.random.key(0), SPEC, expert)
    *hidden, (w, b) = clone.layers
    sure = clone._replace(layers=(*hidden, (w, b.at[SPEC.action :].set(-100.0))))
    states = np.zeros((4, SPEC.observation), np.float32)
    actions = np.linspace(-0.99, 0.99, 4 * SPEC.action, dtype=np.float32).reshape(4, -1)
    held = np.asarray(csil.held_to(sure, states, actions))
    assert held.min() == csil.LEAST
    assert held.max() < 2 * SPEC.action * -csil.FLOOR
