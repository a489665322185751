"""IQ-Learn: the critics' loss by hand, the implied cost within its bound, values within theirs."""

import jax
import jax.numpy as jnp
import numpy as np
import owed
import pytest
import tiny
from owed import EXPERT, GAMMA, Q, V, Y, look_of

from soar_il.bases import BASES
from soar_il.errors import ConfigError

TERMS = ["value", "v0"]


@pytest.mark.parametrize("term", TERMS)
def test_the_loss_is_the_one_on_paper(term):
    """Rewards as its authors write them, then the sign once."""
    base = owed.made("iq-learn", policy_term=term, regularisation=0.5)
    expected = 0.0
    for q, v in zip(np.array(Q), np.array(V), strict=True):
        reward, y = -(q - Y), -np.array(Y)
        expected -= reward[2:].mean()
        value = (1 - GAMMA) * -v[2:].mean() if term == "v0" else (-v - y).mean()
        expected += value + 0.5 * (reward**2).mean()
    loss = base.critic_loss((), look_of(Q, V, Y, EXPERT))
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


def test_a_row_counts_as_often_as_the_steps_it_stands_for():
    base = owed.made("iq-learn")
    twice = [[row[0], *row] for row in Q], [[row[0], *row] for row in V]
    by_rows = base.critic_loss((), look_of(*twice, [Y[0], *Y], [False, *EXPERT]))
    by_weight = base.critic_loss((), look_of(Q, V, Y, EXPERT, [2, 1, 1, 1]))
    np.testing.assert_allclose(by_weight, by_rows, rtol=1e-6)


def test_each_critic_has_a_whole_loss_of_its_own():
    base = owed.made("iq-learn")

    def loss(q):
        return base.critic_loss((), look_of(Q, V, Y, EXPERT)._replace(q=q))

    one = jnp.asarray(np.float32(Q)[None])
    other = one.at[0, 1].add(7.0)
    np.testing.assert_array_equal(jax.grad(loss)(one)[0, 0], jax.grad(loss)(other)[0, 0])
    assert np.abs(jax.grad(loss)(one)).min() > 0


def test_the_best_implied_cost_is_within_one_over_the_regularisation():
    """By gradient descent on a table: what only the expert does costs -1 / c, and no more."""
    c = 0.25
    base = owed.made("iq-learn", regularisation=c)
    q = jnp.zeros((2, 4))

    def loss(q):  # the policy does in each state what the learner's rows have
        look = look_of(Q, V, [0.0] * 4, EXPERT)
        ours = jnp.stack([q[:, 0], q[:, 1], q[:, 0], q[:, 1]], axis=1)[None]
        return base.critic_loss((), look._replace(q=q[None], value=lambda states: ours))

    for _ in range(2000):
        q = q - 0.1 * jax.grad(loss)(q)
    np.testing.assert_allclose(q[:, 2:], -1 / c, atol=1e-3)
    np.testing.assert_allclose(q[:, :2], 1 / c, atol=1e-3)


@pytest.mark.parametrize("term", TERMS)
def test_values_beyond_what_the_cost_allows_are_neither_aimed_at_nor_pushed_further(term):
    base = owed.made("iq-learn", policy_term=term, regularisation=0.5)
    most = 2 / (1 - GAMMA)
    far = [1e4, -1e4, 1e4, -1e4]
    look = look_of(Q, V, far, EXPERT)
    near = look_of(Q, V, np.clip(far, -GAMMA * most, GAMMA * most), EXPERT)
    assert base.critic_loss((), look) == base.critic_loss((), near)

    def pushed(v):
        look = look_of(Q, V, Y, EXPERT)
        return base.critic_loss((), look._replace(value=lambda states: v[None]))

    inside, beyond = (
        jax.grad(pushed)(jnp.zeros((2, 4))),
        jax.grad(pushed)(jnp.full((2, 4), most + 1)),
    )
    assert inside[:, 2:].max() < 0
    assert not beyond.any()


def test_the_share_of_values_that_are_out_of_bounds_is_reported():
    base = owed.made("iq-learn", regularisation=0.5)
    q = np.array(Q)
    q[0] = 22.5, -22.5, 21.5, -21.5  # a tenth more than 2 / (1 - 0.9) is 22
    seen = base.critic_metrics((), look_of(q, V, Y, EXPERT))
    assert float(seen["q_beyond"]) == 0.25
    gap = np.mean([(row - Y)[:2].mean() - (row - Y)[2:].mean() for row in q])
    np.testing.assert_allclose(seen["cost_gap"], gap, rtol=1e-5)


def test_it_keeps_no_cost_and_adds_none_to_the_goal():
    base = owed.made("iq-learn")
    expert, learner = owed.data_of(0, 1.0, 0.5), owed.data_of(1, -1.0, -0.5)
    cost, seen, untouched = owed.fitted(base, expert, learner)
    assert untouched
    assert cost == ()
    assert seen == {}
    for batch in (learner.draw(jax.random.key(2), 32), learner.draw_each(jax.random.key(2), 16, 3)):
        costs = np.asarray(base.cost(cost, batch))
        assert costs.shape == batch.continues.shape
        assert not costs.any()


@pytest.mark.parametrize("critics", [1, 4])
def test_a_run_learns_within_its_bounds_and_resumes_exactly(critics, tmp_path):
    whole, resumed, half, seen = owed.straight_and_resumed(
        tmp_path, base="iq-learn", critics=critics
    )
    assert whole == resumed != half
    assert all(np.isfinite(float(x)) for now in seen for x in now.values())
    assert max(float(now["q_beyond"]) for now in seen) == 0
    assert float(seen[-1]["cost_gap"]) > 0.5


def test_without_the_expert_s_rows_it_says_what_to_give():
    with pytest.raises(ConfigError, match=r"expert_share = 0\.5"):
        tiny.imitator(base="iq-learn", learner={"expert_share": 0.0})


def test_its_settings_are_checked():
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(ConfigError, match="regularisation"):
            BASES["iq-learn"].settings(regularisation=wrong)
