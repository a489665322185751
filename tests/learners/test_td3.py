"""TD3: what critics are led to, when the actor moves, what it finds, and that it resumes."""

import dataclasses
import math
from itertools import pairwise

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import owed
import pytest
import tiny
from gymnasium.spaces import Box

from soar_il import rng, soar
from soar_il.bases.api import Base, Needs
from soar_il.build import build
from soar_il.configure import Config, resolve
from soar_il.demos import Demos
from soar_il.errors import ConfigError
from soar_il.learners import critics, td3
from soar_il.networks import gaussian
from soar_il.types import Batch, Spec

SPEC = Spec(3, 2)
ABSORBING = Spec(3, 2, absorbing=True)
KEY = jax.random.key(0)


def settings(**more):
    return td3.Settings(**{"critics": 2, "batch": 8, "hidden": (8,), "learning_rate": 3e-3, **more})


def normals(seed, *shape):
    return np.array(jax.random.normal(jax.random.key(seed), shape), np.float32)


class Given:
    """Minibatches that are always the same."""

    def __init__(self, s, spec=SPEC):
        one = np.ones((s.critics, 8), np.float32)
        states, following = normals(1, s.critics, 8, 3), normals(3, s.critics, 8, 3)
        if spec.absorbing:
            states[..., -1], following[..., -1] = 0, np.arange(8) % 2
        actions = np.tanh(normals(2, s.critics, 8, 2))
        self.batch = Batch(states, actions, following, one, one, one > 1, np.int32(one))

    def each(self, key):
        return self.batch

    def shared(self, key):
        return Batch(*(x[0] for x in self.batch))

    def demonstrations(self, key):
        return None


def cost_of(cost, batch):
    return jnp.sum(batch.actions, axis=-1) - 0.3


def known(loss=None):
    base = Base(Needs(), lambda *_: (), lambda cost, *_: (cost, {}), cost_of)
    return base if loss is None else base._replace(critic_loss=loss)


def first(s, spec=SPEC):
    return td3.init(rng.at(0, 0), spec, s)


def goals_of(s, key=KEY, spec=SPEC):
    """What the critics were led to, and the first critics and actor."""
    seen = []

    def noted(cost, look):
        seen.append(look.goal)
        return jnp.sum(look.q)

    c, actor = first(s, spec)
    td3.learner(known(noted), spec, s).estimate(c, actor, (), Given(s, spec), key)
    return np.asarray(seen[0]), c, actor


def test_critics_are_led_to_the_cost_and_what_the_smoothed_target_expects():
    s = settings(target_noise=0.7, noise_clip=0.4)
    goal, c, actor = goals_of(s)
    batch = Given(s).batch
    noise = jax.random.normal(jax.random.split(KEY)[1], batch.actions.shape)
    mean = gaussian.mode(td3.acting(actor), batch.next_observations)
    actions = np.clip(mean + np.clip(0.7 * np.asarray(noise), -0.4, 0.4), -1, 1)
    assert 0.1 < np.mean(np.abs(0.7 * np.asarray(noise)) > 0.4) < 0.9
    q = critics.estimates(c.targets, batch.next_observations, actions)
    np.testing.assert_allclose(goal, cost_of((), batch) + 0.99 * np.asarray(q), rtol=1e-5)


def test_the_noise_of_the_target_is_decided_by_the_key_and_is_none_at_zero():
    s = settings()
    once, again, other = (goals_of(s, jax.random.key(n))[0] for n in (1, 1, 2))
    np.testing.assert_array_equal(once, again)
    assert (once != other).any()
    still = [goals_of(settings(target_noise=0.0), jax.random.key(n))[0] for n in (1, 2)]
    np.testing.assert_array_equal(*still)


def test_in_the_absorbing_state_the_next_action_is_zeros():
    s = settings()
    goal, c, _ = goals_of(s, spec=ABSORBING)
    batch = Given(s, ABSORBING).batch
    q = critics.estimates(c.targets, batch.next_observations, np.zeros_like(batch.actions))
    expected = cost_of((), batch) + 0.99 * np.asarray(q)
    np.testing.assert_allclose(goal[:, 1::2], expected[:, 1::2], rtol=1e-5)
    assert (np.abs(goal[:, ::2] - expected[:, ::2]) > 1e-4).all()


def moves(s, updates):
    """Critics and actor after each of so many updates of lines 7-11."""
    learner, data = td3.learner(known(), SPEC, s), Given(s)

    @jax.jit
    def once(c, actor, key):
        return soar.improve(learner, c, actor, (), data, rng.Streams(key))

    c, actor = first(s)
    yield c, actor
    for n in range(updates):
        c, actor, seen = once(c, actor, jax.random.fold_in(KEY, n))
        assert np.isfinite(float(seen["actor_loss"]))
        yield c, actor


@pytest.mark.parametrize("delay", [1, 3])
def test_actor_and_targets_move_at_every_delayed_update_only(delay):
    stages = list(moves(settings(delay=delay), 6))
    for n, ((c, actor), (then_c, then)) in enumerate(pairwise(stages), 1):
        moved = n % delay == 0
        assert owed.same(actor.layers, then.layers) != moved
        assert owed.same(actor.targets, then.targets) != moved
        assert owed.same(c.targets, then_c.targets) != moved
        assert not owed.same(c.layers, then_c.layers)
        assert int(then.updates) == n


def test_the_actor_descends_the_optimistic_q():
    s = settings(delay=1)
    (c, actor), (_, moved) = moves(s, 1)
    states = Given(s).shared(KEY).observations
    learner = td3.learner(known(), SPEC, s)
    c = learner.estimate(c, actor, (), Given(s), KEY)[0]

    def value(layers):
        actions = td3.mu(layers, SPEC, states)
        return jnp.mean(critics.optimistic_q(c.layers, states, actions, critics.Rule(s.sigma))[0])

    assert value(moved.layers) < value(actor.layers)


@pytest.mark.parametrize("average_rate", [0.0, 0.01])
def test_its_policy_is_a_squashed_gaussian_whose_deviation_no_state_and_no_update_changes(
    average_rate,
):
    s = settings(exploration=0.3, average_rate=average_rate, delay=1)
    states = normals(5, 16, 3)
    for _, actor in moves(s, 3):
        for layers in (td3.acting(actor), td3.kept(actor)):
            log_std = gaussian.moments(layers, states)[1]
            np.testing.assert_array_equal(log_std, np.full((16, 2), np.float32(math.log(0.3))))
        acts = gaussian.mode(td3.acting(actor), states)
        np.testing.assert_allclose(acts, td3.mu(actor.layers, SPEC, states), atol=1e-6)


def test_it_starts_as_a_clone_does_with_its_own_exploration():
    s = settings()
    clone = gaussian.init(jax.random.key(9), SPEC, s.hidden)
    actor = td3.started(first(s)[1], clone, s)
    states = normals(5, 16, 3)
    for layers in (
        td3.acting(actor),
        td3.kept(actor),
        td3.as_gaussian(actor.targets, jnp.log(0.1)),
    ):
        np.testing.assert_allclose(
            gaussian.mode(layers, states), gaussian.mode(clone, states), atol=1e-6
        )
        np.testing.assert_allclose(gaussian.moments(layers, states)[1], math.log(0.1), rtol=1e-6)


class Probe(gym.Env):
    """Two steps, at s = 0 and at s = 1."""

    observation_space = Box(-1, 1, (1,))
    action_space = Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 2
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.left -= 1
        return np.ones(1, np.float32), 0.0, self.left == 0, False, {}


@pytest.mark.parametrize("number", [1, 4])
def test_the_cost_to_go_and_the_best_action_are_found(number):
    """The cost is (a - (s + 1) / 4)^2 + s: what is done, where, and what comes later."""

    def cost(state, batch):
        s, a = batch.observations[..., 0], batch.actions[..., 0]
        return (a - (s + 1) / 4) ** 2 + s

    base = Base(Needs(), lambda *_: (), lambda cost, *_: (cost, {}), cost)
    s = settings(
        critics=number,
        discount=0.8,
        learning_rate=5e-3,
        target_rate=0.05,
        target_noise=0.0,
        batch=32,
        hidden=(32,),
        random_steps=512,
        updates_per_step=4,
        capacity=1024,
    )
    cfg = Config("a probe", "known", "td3", termination="early", standardise=False, horizon=2)
    demos = Demos.from_arrays([np.zeros((2, 1))], [np.zeros((1, 1))], terminated=[True])
    grid = np.meshgrid([0.0, 1.0], np.linspace(-0.9, 0.9, 9))
    states, actions = (x.reshape(-1, 1).astype(np.float32) for x in grid)
    alone = (actions[:, 0] - (states[:, 0] + 1) / 4) ** 2 + states[:, 0]
    truth = alone + 0.8 * (states[:, 0] == 0)  # afterwards the best action, at cost 1
    for seed in range(2):
        built = build(dataclasses.replace(cfg, learner=s, seed=seed), Probe, demos, base)
        state = soar.iteration(built.parts, built.start(), seed)[0]
        q = critics.estimates(state.critics.layers, states, actions)
        np.testing.assert_allclose(q, np.tile(truth, (number, 1)), atol=0.1)
        mode = gaussian.mode(td3.acting(state.policy.policy), np.float32([[0], [1]]))
        np.testing.assert_allclose(mode[:, 0], [0.25, 0.5], atol=0.1)


@pytest.mark.parametrize(("base", "critics"), [("ml-irl", 1), ("ml-irl-sa", 4), ("iq-learn", 2)])
def test_a_run_learns_and_resumes_exactly(base, critics, tmp_path):
    whole, resumed, half, seen = owed.straight_and_resumed(
        tmp_path, base=base, critics=critics, algorithm="td3"
    )
    assert whole == resumed != half
    assert all(np.isfinite(float(x)) for now in seen for x in now.values())


def test_a_preset_s_settings_of_sac_are_left_out_and_the_user_s_are_not():
    cfg = resolve("ml-irl", "Walker2d-v5", algorithm="td3", learner={"delay": 3})
    assert isinstance(cfg.learner, td3.Settings)
    assert cfg.learner.delay == 3
    with pytest.raises(ConfigError, match="alpha"):
        resolve("ml-irl", "Walker2d-v5", algorithm="td3", learner={"alpha": 0.1})
    with pytest.raises(ConfigError, match="algorithm"):
        resolve("ml-irl", "Walker2d-v5", algorithm="td4")


def test_a_method_that_needs_an_entropy_is_refused_before_the_first_step():
    with pytest.raises(ConfigError, match="algorithm = sac"):
        tiny.imitator(base="csil", algorithm="td3")


def test_its_settings_are_checked():
    for name, wrong in (
        ("delay", 0),
        ("target_noise", -0.1),
        ("noise_clip", -0.1),
        ("exploration", 0.0),
        ("critics", 0),
    ):
        with pytest.raises(ConfigError, match=name):
            td3.Settings(**{name: wrong})
