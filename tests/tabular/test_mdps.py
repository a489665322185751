import gymnasium
import numpy as np
import pytest

from soar_il.errors import MdpError
from soar_il.tabular import mdps


def test_hard_exploration_has_its_good_action_in_the_low_state():
    mdp = mdps.hard_exploration()
    assert (mdp.n_states, mdp.n_actions, mdp.discount) == (2, 20, 0.99)
    low, high = 0, 1
    assert np.all(mdp.cost[low] == 1)
    assert np.all(mdp.cost[high] == 0)
    leave = (1 - 0.99) / 0.99
    np.testing.assert_allclose(mdp.transitions[high, :, low], leave)
    np.testing.assert_allclose(mdp.transitions[low, 1:, high], leave)
    np.testing.assert_allclose(mdp.transitions[low, 0, high], leave + 0.01)
    assert mdp.optimal_policy()[low, 0] == 1
    assert mdp.initial[low] == 1


def test_the_released_variant_has_it_in_the_high_state():
    mdp = mdps.hard_exploration_as_released()
    low, high = 0, 1
    leave = (1 - 0.99) / 0.99
    np.testing.assert_allclose(mdp.transitions[low, :, high], leave)
    np.testing.assert_allclose(mdp.transitions[high, 0, low], leave - 0.01)
    np.testing.assert_allclose(mdp.transitions[high, 1:, low], leave)
    assert mdp.optimal_policy()[high, 0] == 1
    assert mdp.initial[high] == 1


def test_garnet_has_the_branching_asked_for():
    mdp = mdps.garnet(7, 3, 4, seed=5)
    assert np.all((mdp.transitions > 0).sum(axis=2) == 4)
    assert mdp.state_only_cost
    assert not mdps.garnet(7, 3, 4, seed=5, state_only_cost=False).state_only_cost
    assert not np.array_equal(mdp.transitions, mdps.garnet(7, 3, 4, seed=6).transitions)


def test_exploration_matters_in_chain_and_deep_sea():
    for mdp in (mdps.chain(8), mdps.deep_sea(6)):
        always_left = np.eye(2)[np.zeros(mdp.n_states, dtype=int)]
        best = mdp.optimal_policy()
        assert mdp.initial_value(best) < mdp.initial_value(always_left) - 1
        reached = mdp.occupancy(mdp.uniform_policy())[-1].sum()
        assert reached < mdp.occupancy(best)[-1].sum() / 4


def test_deep_sea_treasure_needs_every_step_right():
    mdp = mdps.deep_sea(4)
    path = [0, 5, 10, 15]
    np.testing.assert_array_equal(mdp.optimal_policy()[path[:-1]], np.eye(2)[[1, 1, 1]])


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4"])
def test_toy_text_has_the_returns_of_the_real_environment(name):
    mdp = mdps.make(name, discount=0.9)
    env = gymnasium.make(name)
    table = env.unwrapped.P
    assert mdp.n_states == len(table) + 1
    policy = mdp.soft_optimal_policy(0.1)
    returns = []
    rng = np.random.default_rng(0)
    for episode in range(400):
        s, _ = env.reset(seed=episode)
        total, weight, done = 0.0, 1.0, False
        for _ in range(150):
            s, reward, done, _, _ = env.unwrapped.step(rng.choice(mdp.n_actions, p=policy[s]))
            total += weight * reward
            weight *= 0.9
            if done:
                break
        returns.append(total)
    env.close()
    mean_reward = np.array(
        [[sum(p * r for p, _, r, _ in a) for a in s.values()] for s in table.values()]
    )
    high, low = max(mean_reward.max(), 0.0), min(mean_reward.min(), 0.0)
    expected = high / (1 - 0.9) - (high - low) * mdp.initial_value(policy)
    error = np.std(returns) / np.sqrt(len(returns))
    assert abs(np.mean(returns) - expected) < 4 * error + 1e-4 * (high - low)


def test_unknown_names_get_a_suggestion():
    with pytest.raises(MdpError, match="did you mean 'deep-sea'"):
        mdps.make("deep-see")
    with pytest.raises(MdpError, match="registered toy-text"):
        mdps.make("FrozenPond-v1")
    with pytest.raises(MdpError, match=r"(?s)no transition table.*FrozenLake"):
        mdps.from_gymnasium("CartPole-v1")
    with pytest.raises(MdpError, match="branching"):
        mdps.garnet(3, 2, 4)
    with pytest.raises(MdpError, match="shrink the gap"):
        mdps.hard_exploration(0.99, gap=1.5)
