import itertools

import numpy as np
import pytest

from soar_il.errors import MdpError
from soar_il.tabular import mdps
from soar_il.tabular.mdp import Mdp


def simulate(mdp, policy, episodes, seed=0):
    """Mean discounted cost and visit shares, by playing: episodes of geometric length."""
    rng = np.random.default_rng(seed)
    costs, last = np.zeros(episodes), np.zeros((mdp.n_states, mdp.n_actions))
    for episode in range(episodes):
        s = rng.choice(mdp.n_states, p=mdp.initial)
        while True:
            a = rng.choice(mdp.n_actions, p=policy[s])
            costs[episode] += mdp.cost[s, a]
            if rng.random() >= mdp.discount:
                last[s, a] += 1
                break
            s = rng.choice(mdp.n_states, p=mdp.transitions[s, a])
    return costs, last / episodes


def test_value_and_occupancy_agree_with_playing(random_policies):
    mdp = mdps.garnet(4, 3, 2, 0.8, seed=1)
    policy = random_policies(mdp, 1)[0]
    costs, shares = simulate(mdp, policy, 20_000)
    error = costs.std() / np.sqrt(len(costs))
    assert abs(costs.mean() - mdp.initial_value(policy)) < 4 * error
    occupancy = mdp.occupancy(policy)
    spread = np.sqrt(occupancy * (1 - occupancy) / len(costs))
    assert np.all(np.abs(shares - occupancy) < 4 * spread + 1e-12)


def test_cost_is_value_of_the_occupancy(garnets, random_policies):
    for mdp in garnets:
        policies = random_policies(mdp, 20)
        occupancy = mdp.occupancy(policies)
        np.testing.assert_allclose(occupancy.sum(axis=(1, 2)), 1)
        total = (occupancy * mdp.cost).sum(axis=(1, 2)) / (1 - mdp.discount)
        np.testing.assert_allclose(total, mdp.initial_value(policies), rtol=1e-10)


def test_many_policies_are_solved_as_one_by_one(monkeypatch, random_policies):
    mdp = mdps.garnet(6, 2, 3, seed=1)
    policies = random_policies(mdp, 30).reshape(5, 6, 6, 2)
    monkeypatch.setattr("soar_il.tabular.mdp._BLOCK_ENTRIES", 36 * 7)
    values, occupancies = mdp.value(policies), mdp.occupancy(policies)
    for at in np.ndindex(5, 6):
        np.testing.assert_allclose(values[at], mdp.value(policies[at]), rtol=1e-12)
        np.testing.assert_allclose(occupancies[at], mdp.occupancy(policies[at]), rtol=1e-12)


def test_value_solves_its_equation(garnets, random_policies):
    for mdp in garnets:
        policy = random_policies(mdp, 1)[0]
        q = mdp.action_value(policy)
        np.testing.assert_allclose(mdp.value(policy), (policy * q).sum(axis=1), rtol=1e-10)


def test_optimal_policy_beats_every_deterministic_one():
    for seed in range(5):
        mdp = mdps.garnet(4, 3, 2, 0.9, seed, state_only_cost=False)
        every = np.eye(3)[np.array(list(itertools.product(range(3), repeat=4)))]
        best = mdp.value(every).min(axis=0)
        np.testing.assert_allclose(mdp.value(mdp.optimal_policy()), best, rtol=1e-10)


def test_soft_optimal_policy_is_a_softmax_of_its_own_soft_values():
    mdp, temperature = mdps.garnet(5, 3, 2, 0.9, seed=2), 0.3
    policy = mdp.soft_optimal_policy(temperature)
    entropy_cost = mdp.cost + temperature * np.log(policy)
    q = mdp.cost + mdp.discount * mdp.expect(mdp.value(policy, entropy_cost))
    weights = np.exp(-(q - q.min(axis=1, keepdims=True)) / temperature)
    np.testing.assert_allclose(policy, weights / weights.sum(axis=1, keepdims=True), rtol=1e-8)


def test_soft_optimum_approaches_the_optimum():
    mdp = mdps.chain()
    soft = mdp.initial_value(mdp.soft_optimal_policy(1e-3))
    assert soft == pytest.approx(mdp.initial_value(mdp.optimal_policy()), abs=1e-3)


def test_optimal_policy_ends_where_actions_tie():
    mdp = Mdp(np.full((2, 3, 2), 0.5), np.full((2, 3), 0.25), np.array([1.0, 0.0]), 0.9)
    np.testing.assert_array_equal(mdp.optimal_policy(), np.eye(3)[[0, 0]])


def good():
    return {
        "transitions": np.full((2, 3, 2), 0.5),
        "cost": np.full((2, 3), 0.5),
        "initial": np.array([0.5, 0.5]),
        "discount": 0.9,
    }


def changed(field, at, value):
    arguments = good()
    if at is None:
        arguments[field] = value
    else:
        arguments[field][at] = value
    return arguments


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (changed("transitions", (1, 2, 0), 0.7), r"transitions\[1, 2\] sums to 1\.2"),
        (changed("transitions", (0, 1), [-0.5, 1.5]), r"transitions\[0, 1, 0\] is -0\.5, a neg"),
        (changed("transitions", (1, 0, 1), np.nan), r"transitions\[1, 0, 1\] is nan"),
        (changed("transitions", None, np.full((2, 3), 0.5)), r"shape \(2, 3\).*be \[S, A, S\]"),
        (changed("transitions", None, np.zeros((0, 3, 0))), r"at least one state"),
        (changed("transitions", None, "five"), r"not an array of numbers"),
        (changed("cost", None, np.zeros((3, 2))), r"cost must have shape \(2, 3\)"),
        (changed("cost", (0, 1), 1.5), r"cost is 1\.5 at \(s=0, a=1\).*rescale"),
        (changed("cost", (0, 1), np.inf), r"cost\[0, 1\] is inf"),
        (changed("initial", 0, 0.7), r"initial sums to 1\.2"),
        (changed("initial", None, np.ones(3) / 3), r"initial must have shape \(2,\)"),
        (changed("discount", None, 1.0), r"discount is 1\.0, outside \[0, 1\)"),
        (changed("discount", None, -0.1), r"outside \[0, 1\)"),
        (changed("discount", None, float("nan")), r"discount is nan"),
    ],
)  # fmt: skip
def test_what_is_no_mdp_is_refused(arguments, says):
    with pytest.raises(MdpError, match=f"(?s){says}"):
        Mdp(**arguments)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (np.full((2, 2), 0.5), r"shape \(2, 2\)"),
        (np.full((2, 3), 0.5), r"policy\[0\] sums to 1\.5"),
        ([[1.0, 0, 0], [2.0, -1.0, 0.0]], r"policy\[1, 1\] is -1"),
        ([[1.0, 0, 0], [np.nan, 0.0, 0.0]], r"policy\[1, 0\] is nan"),
    ],
)
def test_what_is_no_policy_is_refused(policy, says):
    with pytest.raises(MdpError, match=says):
        Mdp(**good()).value(policy)


def test_an_mdp_keeps_its_own_copy():
    arguments = good()
    mdp = Mdp(**arguments)
    arguments["cost"][:] = 7.0
    assert mdp.cost.max() == 0.5
