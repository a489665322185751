import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import reference

from soar_il import config, soar
from soar_il.errors import ConfigError, MdpError
from soar_il.tabular import mdps
from soar_il.tabular import run as running
from soar_il.tabular.datasets import Counts
from soar_il.tabular.expert import draw_expert
from soar_il.tabular.mdp import Mdp
from soar_il.tabular.parts import World, cdf, initial_state, tabular_parts
from soar_il.tabular.run import run
from soar_il.tabular.settings import Settings
from soar_il.tabular.studies.ablation import Task


def traces(mdp, settings, iterations, seeds, chunk=1000, samples=50):
    experts = [draw_expert(mdp, samples, seed, settings.state_only) for seed in seeds]
    parts = list(run(mdp, experts, settings, iterations, seeds, chunk))
    return running.Trace(
        1, *(np.concatenate(x, axis=1) for x in list(zip(*parts, strict=True))[1:])
    )


def same(left, right):
    for a, b in zip(left[1:], right[1:], strict=True):
        np.testing.assert_array_equal(a, b)


def agree(trace, row, history):
    policy, cost, q, steps = (np.stack(x) for x in zip(*history, strict=True))
    np.testing.assert_array_equal(trace.steps[row], steps)
    np.testing.assert_allclose(trace.policy[row], policy, rtol=0, atol=1e-10)
    np.testing.assert_allclose(trace.q[row], q, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        np.broadcast_to(trace.cost[row].reshape(len(cost), cost.shape[1], -1), cost.shape)
        if cost.ndim == 3
        else trace.cost[row],
        cost,
        rtol=0,
        atol=1e-12,
    )


@pytest.mark.parametrize("state_only", [True, False])
@pytest.mark.parametrize("rule", ["min", "mean-std"])
def test_the_compiled_loop_is_algorithm_2(rule, state_only):
    settings = Settings(
        critics=3, eta=0.7, alpha=0.2, rule=rule, bonus_scale=0.5, state_only=state_only
    )
    for number in range(3):
        mdp = mdps.garnet(4, 3, 3, 0.9, seed=number, state_only_cost=state_only)
        seeds = [number, number + 10]
        trace = traces(mdp, settings, 200, seeds)
        for row, seed in enumerate(seeds):
            expert = draw_expert(mdp, 50, seed, state_only).occupancy
            agree(trace, row, reference.tabular_soar(
                mdp, expert, 200, seed, 3, 0.7, 0.2, rule, 0.5, state_only
            ))  # fmt: skip


def test_the_released_variant_is_the_notebook_s():
    task = config.preset(Task, "tabular", "as-released")
    settings = dataclasses.replace(task.settings, critics=2, cost_trajectories=5, bonus_scale=0.3)
    mdp = mdps.hard_exploration_as_released(0.9, 4, 0.05)
    trace = traces(mdp, settings, 100, [7])
    expert = draw_expert(mdp, 50, 7).occupancy
    agree(trace, 0, reference.released_soar(mdp, expert, 100, 7, 2, 4.0, 0.9, 0.3, 5))


def test_a_run_does_not_depend_on_chunks_or_on_what_runs_beside_it():
    mdp, settings = mdps.garnet(seed=3), Settings(critics=2)
    together = traces(mdp, settings, 60, [0, 5, 9])
    same(together, traces(mdp, settings, 60, [0, 5, 9], chunk=7))
    alone = traces(mdp, settings, 60, [5])
    for a, b in zip(together[1:], alone[1:], strict=True):
        np.testing.assert_allclose(a[1], b[0], rtol=1e-12, atol=1e-12)


def test_the_true_cost_reaches_nothing():
    mdp, settings = mdps.garnet(seed=4), Settings(critics=2)
    experts = [draw_expert(mdp, 50, 0)]
    honest = next(run(mdp, experts, settings, 50, [0]))
    for cost in (1 - mdp.cost, np.zeros_like(mdp.cost)):
        other = Mdp(mdp.transitions, cost, mdp.initial, mdp.discount)
        same(honest, next(run(other, experts, settings, 50, [0])))


def test_the_learned_cost_reaches_the_policy():
    mdp, settings = mdps.garnet(seed=4), Settings(critics=2)
    policies = [
        next(run(mdp, [draw_expert(mdp, 50, 0, policy=p)], settings, 50, [0])).policy
        for p in (mdp.optimal_policy(), mdp.uniform_policy())
    ]
    assert np.abs(policies[0] - policies[1]).max() > 0.1


def test_the_generator_runs_the_same_iteration():
    mdp, settings = mdps.garnet(seed=5), Settings(critics=2)
    trace = traces(mdp, settings, 5, [3])
    with jax.enable_x64(True):
        datasets = Counts(settings, mdp.n_states, mdp.n_actions)
        world = World(
            cdf(jnp.asarray(mdp.transitions)), cdf(jnp.asarray(mdp.initial)), mdp.discount
        )
        expert = jnp.asarray(draw_expert(mdp, 50, 3).occupancy)
        parts = tabular_parts(world, expert, settings, datasets, longest=512)
        start = initial_state(datasets, mdp.n_states, mdp.n_actions, state_only=True)
        for k, (state, _, seen) in zip(
            range(5), soar.run(parts, start, np.uint32(3)), strict=False
        ):
            assert int(seen["steps"]) == trace.steps[0, k]
            np.testing.assert_allclose(state.critics, trace.q[0, k], atol=1e-12)
        assert int(state.k) == 6


def test_policies_stay_in_the_simplex_for_a_hundred_thousand_steps():
    mdp, settings = mdps.garnet(3, 2, 2, 0.5, seed=1), Settings(critics=1, eta=50.0)
    experts = [draw_expert(mdp, 50, 0)]
    for trace in run(mdp, experts, settings, 100_000, [0], chunk=20_000):
        assert np.all(trace.policy >= 0)
        np.testing.assert_allclose(trace.policy.sum(axis=-1), 1, atol=1e-12)
        assert np.all((trace.cost >= 0) & (trace.cost <= 1))


@pytest.mark.parametrize(
    "settings",
    [
        Settings(critics=4, rule="min"),
        Settings(critics=4, routing="trajectories", cost_trajectories=2),
    ],
    ids=["visits", "trajectories"],
)
def test_a_logged_run_is_a_counted_run(monkeypatch, settings):
    mdp = mdps.garnet(6, 3, 3, 0.9, seed=2)
    counted = traces(mdp, settings, 80, [0, 1])
    monkeypatch.setattr(running, "LOG_COST", 0)
    running.advance.clear_cache()
    logged = traces(mdp, settings, 80, [0, 1])
    running.advance.clear_cache()
    for a, b in zip(counted[1:], logged[1:], strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"seeds": [0, 0]}, ConfigError, "different numbers"),
        ({"seeds": [0]}, ConfigError, "one for each seed"),
        ({"seeds": [0, 2**32]}, ConfigError, "2\\^32"),
        ({"iterations": 0}, ConfigError, "at least 1"),
        ({"settings": Settings(state_only=False)}, MdpError, "state_only=False"),
    ],
)
def test_what_cannot_run_is_refused(changes, error, says):
    mdp = mdps.garnet()
    arguments = {"settings": Settings(), "iterations": 5, "seeds": [0, 1]} | changes
    experts = [draw_expert(mdp, 10, 0), draw_expert(mdp, 10, 1)]
    with pytest.raises(error, match=says):
        next(run(mdp, experts, **arguments))


@pytest.mark.parametrize(
    "changes",
    [{"critics": 0}, {"critics": 2.5}, {"eta": 0.0}, {"eta": float("nan")}, {"alpha": -1.0},
     {"bonus_scale": -0.1}, {"cost_trajectories": -1}],
)  # fmt: skip
def test_settings_out_of_range_are_refused(changes):
    with pytest.raises(ConfigError, match=next(iter(changes))):
        Settings(**changes)
