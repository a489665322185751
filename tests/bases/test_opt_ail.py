"""OPT-AIL: each form of its optimism by hand, that it acts where it says, and the run."""

import jax
import jax.numpy as jnp
import known
import numpy as np
import owed
import pytest
import tiny

from soar_il.bases import BASES, opt_ail
from soar_il.bases.api import Look, squared_error
from soar_il.engine import replay
from soar_il.errors import ConfigError
from soar_il.learners import critics, sac
from soar_il.types import Batch, Spec, Treated

FORMS = ["start", "cql", "pairs"]
SPEC = Spec(1, 1)
MODE, TAKEN = 0.3, 0.9  # the action of the policy, and those of the minibatch
STARTS = opt_ail.Begun((), np.float32([[3.0], [5.0]]), np.float32([0.25, 0.75]))


def method(form, base="opt-ail", **settings):
    return owed.made(base, optimism=form, coefficient=1.0, **settings)


def look_of(q_of, alpha=0.5, shown=False):
    """Two pairs, whose Q ``q_of`` gives for states and actions of each of the four critics."""
    states = np.linspace(1, 2, 10, dtype=np.float32).reshape(2, 5, 1)
    one, actions = np.ones((2, 5), np.float32), np.full((2, 5, 1), TAKEN, np.float32)
    batch = Batch(states, actions, states, one, one, np.full((2, 5), shown), np.int32(one))

    def act(states, z):
        density = -0.5 * z[..., 0] ** 2 - np.log(0.05 * np.sqrt(2 * np.pi))
        return jnp.full(states.shape, MODE) + 0.05 * z, alpha * density

    def values(s, a):
        return q_of(s[..., 0], a[..., 0])

    q = values(jnp.repeat(states, 2, axis=0), jnp.repeat(actions, 2, axis=0)).reshape(2, 2, 5)
    goal, key = jnp.zeros((2, 5)), jax.random.key(0)
    return Look(q, goal, values, None, act, jnp.float32(alpha), key, batch, None, 0.9)


def term(form, q_of, base="opt-ail", alpha=0.5, shown=False, **settings):
    """What is added to the squared error, summed over four critics."""
    look = look_of(q_of, alpha, shown)
    return float(method(form, base, **settings).critic_loss(STARTS, look) - squared_error((), look))


def test_at_the_start_it_is_the_least_q_over_actions():
    assert term("start", lambda s, a: 2 * s) == pytest.approx(4 * 2 * (0.25 * 3 + 0.75 * 5))
    found = term("start", lambda s, a: (a + 0.5) ** 2, actions=200)
    assert found == pytest.approx(0.0, abs=1e-2)  # at -0.5, which the policy never plays
    assert term("start", lambda s, a: (a + 0.5) ** 2, actions=1) > 0.01


@pytest.mark.parametrize(
    ("base", "shown", "at"),
    [
        ("opt-ail", False, MODE),
        ("opt-ail", True, TAKEN),
        ("opt-ail-so", True, MODE),
    ],
)
def test_without_temperature_it_is_q_of_the_good_action_less_the_least_q(base, shown, at):
    """The good one is the policy's mode, and the expert's own action where it may be looked at."""
    found = term("cql", lambda s, a: a, base, alpha=0.0, shown=shown, actions=200)
    assert found == pytest.approx(4 * (at + 1), abs=0.1)


def test_with_temperature_it_is_less_the_soft_minimum():
    """alpha log E exp(Q / alpha) where Q sums up rewards, by importance weights, as in the code."""
    alpha, tilt = 0.5, 2.0
    look = look_of(lambda s, a: tilt * a, alpha)
    q, density = opt_ail.at_candidates(look, look.batch.observations, 6)
    assert q.shape == (2, 2, 12, 5)
    np.testing.assert_allclose(density[:, :, 6:], alpha * np.log(0.5), rtol=1e-6)
    rewards = -np.asarray(q, float)
    soft = alpha * np.log(np.sum(np.exp((rewards - np.asarray(density)) / alpha), axis=2))
    found = opt_ail.against_the_soft_minimum(look, 6, state_only=False)
    np.testing.assert_allclose(found, np.mean(soft - -tilt * MODE, axis=-1), rtol=1e-5)


def test_pairs_are_the_minibatch_s_own():
    assert term("pairs", lambda s, a: s + a) == pytest.approx(4 * (1.5 + TAKEN), rel=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_each_critic_has_a_term_of_its_own(form):
    def slope(other):
        def loss(k):
            tilt = jnp.stack([k, k * 0 + other, k * 0 + other, k * 0 + other])[:, None]
            look = look_of(lambda s, a: tilt * (s + a))
            return method(form).critic_loss(STARTS, look) - squared_error((), look)

        return jax.grad(loss)(jnp.float32(1.0))

    assert float(slope(1.0)) == pytest.approx(float(slope(7.0)), rel=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_it_makes_the_cost_to_go_lower_where_it_says(form):
    """Critics of the same data and costs, with the term and without."""
    s = known.settings(critics=2, learning_rate=1e-2)
    base = method(form)
    c, actor = known.first_state(s).critics, known.first_actor(s)
    batch = known.random_batch(0, (2, 8))
    starts = opt_ail.Begun((), known.normals(9, (4, 3)), np.full(4, 0.25, np.float32))

    def learned(loss):
        made = known.KNOWN._replace(cost=lambda cost, batch: 0 * batch.continues, critic_loss=loss)
        estimate = jax.jit(sac.learner(made, known.SPEC, s).estimate)
        now = c
        for n in range(60):
            now, _ = estimate(now, actor, starts, known.Given(batch), jax.random.key(n))
        return now.layers

    with_term, without = learned(base.critic_loss), learned(squared_error)

    def q(layers, states, mode):
        zero = np.zeros((*states.shape[:-1], 2), np.float32)
        actions = sac.gaussian.sample(actor.layers, known.SPEC, states, zero)[0] if mode else zero
        return np.mean(critics.estimates(layers, states, actions))

    def lowered(states, mode):
        return q(without, states, mode) - q(with_term, states, mode)

    if form == "start":
        assert lowered(np.stack([starts.starts] * 2), mode=True) > 0.1
    elif form == "cql":  # the policy's mode, against what is elsewhere
        far = np.full((2, 8, 2), 0.95, np.float32)
        elsewhere = [
            np.mean(critics.estimates(x, batch.observations, far)) for x in (without, with_term)
        ]
        assert lowered(batch.observations, mode=True) > elsewhere[0] - elsewhere[1] + 0.1
    else:
        own = [
            np.mean(critics.estimates(x, batch.observations, batch.actions))
            for x in (without, with_term)
        ]
        assert own[0] - own[1] > 0.1


def starting_at(mark):
    """Episodes of different lengths that start at ``mark`` and are at 0 afterwards."""
    treated = []
    for length in range(10, 16):
        states, one = np.zeros((length + 1, 1), np.float32), np.ones(length, np.float32)
        states[0] = mark
        treated.append(Treated(states, np.zeros((length, 1), np.float32), one, one, one))
    return replay.add(replay.empty(SPEC, 1024, 0), treated, 75)


def test_where_episodes_start_is_learned_from_the_learner_s_own():
    base = method("start", hidden=(4,), batch=8, starts=32)
    expert, learner = starting_at(1.0), starting_at(-1.0)
    cost = base.init(jax.random.key(0), SPEC, expert)
    np.testing.assert_array_equal(cost.starts, 1.0)
    cost, _ = base.update(cost, expert, learner, jax.random.key(1))
    np.testing.assert_array_equal(cost.starts, -1.0)
    assert float(jnp.sum(cost.share)) == pytest.approx(1.0)


@pytest.mark.parametrize("value", [0.0, -1e-3, float("nan")])
def test_the_coefficient_is_positive(value):
    """In the authors' present code its default is 0, and the method then has no optimism."""
    with pytest.raises(ConfigError, match="coefficient"):
        BASES["opt-ail"].settings(coefficient=value)
    with pytest.raises(ConfigError, match="starts"):
        BASES["opt-ail"].settings(optimism="cql", starts=4)


@pytest.mark.parametrize(
    ("base", "critics", "form"), [("opt-ail", 1, "cql"), ("opt-ail-so", 4, "start")]
)
def test_a_run_trains_and_goes_on_exactly(base, critics, form, tmp_path):
    cost = {**tiny.cost(base), "optimism": form, "actions": 2}
    whole, resumed, half, seen = owed.straight_and_resumed(
        tmp_path, base=base, critics=critics, cost=cost
    )
    assert whole == resumed != half
    assert all(np.isfinite(float(x)) for now in seen for x in now.values())
    assert all(float(now["optimism"]) != 0 for now in seen)
