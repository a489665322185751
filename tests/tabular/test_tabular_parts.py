import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from soar_il.errors import MdpError
from soar_il.tabular import mdps
from soar_il.tabular.expert import ExpertData, draw_expert
from soar_il.tabular.parts import World, cdf, draw, geometric, roll_out, uniform_pairs
from soar_il.tabular.settings import Settings


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("discount", [0.0, 0.3, 0.95])
def test_trajectory_lengths_are_geometric(discount):
    lengths = np.asarray(geometric(jax.random.key(0), discount, 20_000))
    assert lengths.min() == 1
    assert abs(lengths.mean() - 1 / (1 - discount)) < 4 * lengths.std() / np.sqrt(20_000) + 1e-12
    assert np.mean(lengths == 1) == pytest.approx(1 - discount, abs=0.02)


def test_what_has_no_probability_is_never_drawn():
    table = cdf(jnp.array([0.0, 0.3, 0.0, 0.7, 0.0]))
    uniforms = jnp.concatenate([jnp.linspace(0, 1, 1001)[:-1], jnp.array([1 - 2**-32, 0.3])])
    assert set(np.asarray(draw(table, uniforms)).tolist()) == {1, 3}
    short = cdf(jnp.array([0.5, 0.5 - 1e-9, 0.0]))  # a sum that Mdp accepts
    assert int(draw(short, jnp.array(1 - 2**-32))) == 1


def test_the_two_uniforms_are_uniform_and_unrelated():
    pair = [np.asarray(u) for u in uniform_pairs(jax.random.key(1), (20_000,))]
    for u in pair:
        assert 0 <= u.min() <= u.max() < 1
        assert stats.kstest(u, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(*pair)[0, 1]) < 0.03


def test_rollouts_follow_policy_and_dynamics():
    mdp = mdps.garnet(3, 2, 2, 0.98, seed=1)
    policy = np.array([[0.2, 0.8], [1.0, 0.0], [0.5, 0.5]])
    world = World(cdf(jnp.asarray(mdp.transitions)), cdf(jnp.asarray(mdp.initial)), mdp.discount)
    settings = Settings(critics=200, routing="trajectories")
    with np.errstate(divide="ignore"):
        logits = jnp.asarray(np.log(policy))
    tau = roll_out(world, logits, settings, 2048, jax.random.key(2), None)
    pairs, triples = np.zeros((3, 2)), np.zeros((3, 2, 3))
    for lane in range(200):
        n = int(tau.length[lane])
        s, a = np.asarray(tau.states[: n + 1, lane]), np.asarray(tau.actions[:n, lane])
        np.add.at(pairs, (s[:-1], a), 1)
        np.add.at(triples, (s[:-1], a, s[1:]), 1)
    for counts, wanted in ((pairs, policy), (triples, mdp.transitions)):
        n = np.maximum(counts.sum(axis=-1, keepdims=True), 1)
        assert np.all(np.abs(counts - n * wanted) <= 4 * np.sqrt(n * wanted * (1 - wanted)) + 1)
    assert pairs.sum() > 5000
    assert np.all(triples[mdp.transitions == 0] == 0)


@pytest.mark.parametrize("state_only", [True, False])
def test_expert_data_come_from_the_expert_s_occupancy(state_only):
    mdp = mdps.garnet(seed=2)
    policy = mdp.soft_optimal_policy(0.5)
    data = draw_expert(mdp, 40_000, seed=1, state_only=state_only, policy=policy)
    wanted = mdp.occupancy(policy)
    wanted = wanted.sum(axis=1) if state_only else wanted
    assert (data.size, data.state_only) == (40_000, state_only)
    assert data.occupancy.sum() == pytest.approx(1)
    np.testing.assert_allclose(data.occupancy, wanted, atol=0.01)
    again = draw_expert(mdp, 40_000, seed=1, state_only=state_only, policy=policy)
    np.testing.assert_array_equal(data.counts, again.counts)
    other = draw_expert(mdp, 40_000, seed=2, state_only=state_only, policy=policy)
    assert not np.array_equal(data.counts, other.counts)


def test_empty_expert_data_are_refused():
    with pytest.raises(MdpError, match="at least one"):
        draw_expert(mdps.chain(), 0, seed=0)
    with pytest.raises(MdpError, match="at least one of them positive"):
        ExpertData(np.zeros(3))
