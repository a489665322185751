"""Trials: which policy is handed out, and that no reward has a say in it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny
import toys
from known import SAC, SPEC, normals
from scipy.stats import wasserstein_distance

from soar_il import rng
from soar_il.engine import parts as engine
from soar_il.engine import replay, trial
from soar_il.engine.collect import Collector, Played
from soar_il.envs.blind import BlindEnv
from soar_il.envs.view import view_of
from soar_il.learners import sac
from soar_il.learners.sac import Settings
from soar_il.networks import gaussian
from soar_il.types import Spec, Trajectory, Treated

STEPS, EVERY = trial.MARKS, 3
WIDE = Spec(4, 2, absorbing=True)


def treated(states):
    n = len(states)
    one = np.ones(n, np.float32)
    return Treated(np.concatenate([states, states[-1:]]), np.zeros((n, 2), np.float32), *[one] * 3)


def stored(*trajectories):
    kept = replay.empty(Spec(trajectories[0].shape[1], 2), 4096, 0)
    return replay.add(kept, [treated(states) for states in trajectories], 1)


def named(number):
    """Layers that are told from others by a number."""
    return ((jnp.full((1, 1), float(number)), jnp.zeros(1)),)


def name(layers):
    return float(layers[0][0][0, 0])


DEMOS = [normals(n, (STEPS, 3)) * (1, 5, 0.2) + (3, 0, -1) for n in range(2)]
DEMOS = [states.astype(np.float32) for states in DEMOS]
MARKS = trial.marks(stored(*DEMOS), SPEC)


def gap_of(states, room=STEPS + 40):
    padded = np.concatenate([states, np.full((room - len(states), 3), 77, np.float32)])
    return float(trial.gap(padded, np.arange(room) < len(states), MARKS))


def test_the_gap_is_the_wasserstein_distance_of_the_worst_coordinate():
    states = normals(7, (STEPS, 3)) + 1
    pooled = np.concatenate(DEMOS)
    each = [wasserstein_distance(states[:, j], pooled[:, j]) / pooled[:, j].std() for j in range(3)]
    assert gap_of(states) == pytest.approx(max(each), rel=0.02)
    assert gap_of(states[::-1]) == gap_of(states)


def test_the_expert_has_no_gap_and_a_shift_has_its_size_in_deviations():
    marks = trial.marks(stored(DEMOS[0]), SPEC)
    alive = np.ones(STEPS, bool)
    scale = np.asarray(marks.scale)
    assert float(trial.gap(DEMOS[0], alive, marks)) == pytest.approx(0, abs=1e-6)
    assert float(trial.gap(DEMOS[0] + 0.5 * scale, alive, marks)) == pytest.approx(0.5, rel=1e-4)


@pytest.mark.parametrize("steps", [STEPS // 2, STEPS + 32])
def test_ending_earlier_or_later_than_the_demonstrations_is_a_gap(steps):
    states = np.resize(DEMOS[0], (steps, 3))
    apart = np.abs(steps - STEPS) / STEPS * trial.ENDED
    assert apart <= gap_of(states) <= apart + 0.2


def test_absorbing_states_are_no_states_of_a_trajectory():
    states = np.concatenate([DEMOS[0], np.zeros((STEPS, 1), np.float32)], axis=1)
    ended = np.repeat(np.float32([[0, 0, 0, 10]]), 9, axis=0)
    alive, dead = stored(states), stored(np.concatenate([states, ended]))
    for a, b in zip(trial.marks(alive, WIDE), trial.marks(dead, WIDE), strict=True):
        np.testing.assert_array_equal(a, b)
    marks = trial.marks(alive, WIDE)
    now = trial.init(named(0))._replace(since=jnp.int32(EVERY))
    s = Settings(trial_every=EVERY)
    judged = trial.judge(now, named(1), dead, marks, WIDE, s, STEPS + 20)
    assert float(judged.gap) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("trials", [1, 2, 3])
def test_a_policy_is_kept_that_comes_closest_in_every_trial(trials):
    marks = trial.marks(stored(DEMOS[0]), SPEC)
    s = Settings(trial_every=EVERY, trials=trials)
    draws = iter(np.random.default_rng(0).uniform(0, 2, 400))
    now, data = trial.init(named(-1)), replay.empty(SPEC, 8192, 0)
    assert name(trial.chosen(now, named(5))) == 5
    judge = jax.jit(trial.judge, static_argnums=(4, 5, 6))
    since, shifts, tried, best, seen = 0, [], None, (trial.FAR, None), []
    for k in range(200):
        due = bool(shifts) or since >= EVERY
        assert trial.due(now, EVERY) == due
        assert name(trial.player(now, named(k))) == (tried if shifts else k)
        shift = next(draws) * 0.98**k if due else 0.0  # what is not on trial would be perfect
        taus = [DEMOS[0] + shift * np.asarray(marks.scale), DEMOS[0]]
        data = replay.add(data, [treated(states.astype(np.float32)) for states in taus], 1)
        now = judge(now, named(k), data, marks, SPEC, s, STEPS + 5)
        since = 1 if due and not shifts else since + 1
        if due:
            tried = tried if shifts else float(k)
            shifts.append(shift)
            if shift > best[0] or len(shifts) == trials:
                best = min(best, (max(shifts), tried))
                shifts = []
        seen += [best[1]] if best[1] not in seen else []
        assert float(now.least) == pytest.approx(best[0], abs=1e-3)
        if best[1] is not None:
            assert name(trial.chosen(now, named(0))) == best[1]
    assert len(seen) > 3


def test_a_trial_is_played_without_noise_by_what_would_be_handed_out():
    env = BlindEnv(toys.PointMass, toys.HORIZON)
    view = view_of([], False, "early", 10.0, env.horizon, 0.99)
    spec = view.spec(env.observation_size, env.action_size)
    s = Settings(critics=1, hidden=(8,), average_rate=0.1, trial_every=EVERY, iteration_steps=150)
    acting, first, second = (sac.init(rng.at(n, 0), spec, s)[1] for n in range(3))
    acting = acting._replace(average=first.layers)
    fresh = trial.init(first.layers)
    pi = Played(acting, jnp.int32(1), jnp.bool_(False), fresh)
    first, second = first.layers, second.layers
    due = fresh._replace(since=jnp.int32(EVERY))
    again = fresh._replace(passed=jnp.int32(1), candidate=second)
    collect = Collector(env, view, spec, SAC, s).collect

    def without_noise(tau: Trajectory, layers):
        modes = gaussian.play_mode(layers, view(tau.observations[:-1]))
        return np.allclose(tau.actions, modes, atol=1e-5)

    plain = collect(pi, jax.random.key(2))
    assert not any(without_noise(tau, layers) for tau in plain for layers in (first, second))
    for trials, layers in ((due, first), (again, second)):
        taus = collect(pi._replace(trial=trials), jax.random.key(2))
        assert len(taus) > 1
        assert [without_noise(tau, layers) for tau in taus] == [True] + [False] * (len(taus) - 1)


def test_what_is_kept_is_what_acts():
    agent = tiny.imitator(learner={"trial_every": 1})
    agent.learn(400)
    pi = agent._run.state.policy
    assert float(pi.trial.least) < trial.FAR
    jax.tree.map(np.testing.assert_array_equal, engine.kept(SAC, pi), pi.trial.kept)
    seen = np.zeros(agent._run.built.env.observation_size, np.float32)
    action = gaussian.play_mode(pi.trial.kept, agent._run.built.view(seen))
    expected = agent._run.built.env.to_env(np.asarray(action))
    np.testing.assert_allclose(agent.predict(seen)[0], expected, rtol=1e-6)
