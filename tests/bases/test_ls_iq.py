"""LS-IQ: every target by hand, the absorbing state's among them, and values within their bounds."""

import jax
import jax.numpy as jnp
import numpy as np
import owed
import pytest
from owed import EXPERT, GAMMA, Q, V, Y, look_of

from soar_il.bases import BASES
from soar_il.errors import ConfigError

B = 2.0  # 1 / c with c = 0.5
MOST = B / (1 - GAMMA)  # 20
COSTS = np.where(EXPERT, -B, B)
STAYS = [1, 5, 5, 1]  # in the second and third row the absorbing state stays


def look_with_costs(weights=None, y=Y):
    """As the engine makes it: the goal has the cost of the row's source in it."""
    return look_of(Q, V, np.array(y) + COSTS, EXPERT, weights)


def on_paper(expert_targets, policy_targets, policy, share):
    """E_E[(Q - t_E)^2] + E[(V or Q - t_pi)^2], summed over the two critics."""
    total = 0.0
    for q, v in zip(np.array(Q), np.array(V), strict=True):
        total += ((q[2:] - np.array(expert_targets)) ** 2).mean()
        x = v if policy == "value" else q
        total += (np.array(share) * (x - np.array(policy_targets)) ** 2).sum()
    return total


CASES = {
    "fixed, value": ([-MOST, -MOST], [2.3, 2.6, 2.9, 3.2], [0.25, 0.25, 0.25, 0.25]),
    "fixed, q": ([-MOST, -MOST], [2.3, 2.6, 0, 0], [0.5, 0.5, 0, 0]),
    "bootstrap, value": ([-1.1, -0.8], [2.3, 2.6, 2.9, 3.2], [0.25, 0.25, 0.25, 0.25]),
    "bootstrap, q": ([-1.1, -0.8], [2.3, 2.6, 0, 0], [0.5, 0.5, 0, 0]),
}
ABSORBING = {
    "fixed, value": ([-MOST, -MOST], [2.3, MOST, 0, 3.2], [0.25, 0.25, 0, 0.25]),
    "fixed, q": ([-MOST, -MOST], [2.3, MOST, 0, 0], [0.5, 0.5, 0, 0]),
    "bootstrap, value": ([-MOST, -0.8], [2.3, MOST, 0, 3.2], [0.25, 0.25, 0, 0.25]),
    "bootstrap, q": ([-MOST, -0.8], [2.3, MOST, 0, 0], [0.5, 0.5, 0, 0]),
}


@pytest.mark.parametrize("weights", [None, STAYS], ids=["alive", "absorbing"])
@pytest.mark.parametrize("case", CASES)
def test_the_targets_are_those_on_paper(case, weights):
    expert_target, policy_term = case.split(", ")
    base = owed.made(
        "ls-iq", expert_target=expert_target, policy_term=policy_term, regularisation=0.5
    )
    theirs, ours, share = (CASES if weights is None else ABSORBING)[case]
    loss = base.critic_loss((), look_with_costs(weights))
    np.testing.assert_allclose(loss, on_paper(theirs, ours, policy_term, share), rtol=1e-5)


def test_the_cost_is_fixed_by_where_a_row_is_from():
    base = owed.made("ls-iq", regularisation=0.25)
    learner = owed.data_of(1, -1.0, -0.5)
    batch = learner.draw_each(jax.random.key(2), 16, 3)
    assert (np.asarray(base.cost((), batch)) == 4.0).all()
    theirs = batch._replace(expert=jnp.ones_like(batch.expert))
    assert (np.asarray(base.cost((), theirs)) == -4.0).all()


@pytest.mark.parametrize("target", ["fixed", "bootstrap"])
@pytest.mark.parametrize("term", ["value", "q"])
def test_no_target_is_beyond_what_the_costs_allow(target, term):
    base = owed.made("ls-iq", expert_target=target, policy_term=term, regularisation=0.5)
    far = [1e4, -1e4, 1e4, -1e4]
    near = np.clip(far, -GAMMA * MOST, GAMMA * MOST)
    losses = [base.critic_loss((), look_with_costs(y=y)) for y in (far, near)]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


def test_it_reports_the_implied_gap_and_values_out_of_bounds():
    seen = owed.made("ls-iq").critic_metrics((), look_with_costs())
    gap = np.mean([(row - Y)[:2].mean() - (row - Y)[2:].mean() for row in np.array(Q)])
    np.testing.assert_allclose(seen["cost_gap"], gap, rtol=1e-5)
    assert float(seen["q_beyond"]) == 0


@pytest.mark.parametrize("critics", [1, 4])
def test_a_run_learns_within_its_bounds_and_resumes_exactly(critics, tmp_path):
    whole, resumed, half, seen = owed.straight_and_resumed(tmp_path, base="ls-iq", critics=critics)
    assert whole == resumed != half
    assert all(np.isfinite(float(x)) for now in seen for x in now.values())
    assert max(float(now["q_beyond"]) for now in seen) == 0
    assert float(seen[-1]["cost_gap"]) > 0.5


def test_its_settings_are_checked():
    for wrong in (0.0, -1.0, float("inf")):
        with pytest.raises(ConfigError, match="regularisation"):
            BASES["ls-iq"].settings(regularisation=wrong)
