"""One test for each equation, lemma and theorem of the tabular half."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from soar_il.tabular import mdps, theory
from soar_il.tabular.binarised import binarise, lift
from soar_il.tabular.expert import draw_expert
from soar_il.tabular.mixture import MixturePolicy
from soar_il.tabular.parts import cost_update
from soar_il.tabular.regret import decompose
from soar_il.tabular.run import run
from soar_il.tabular.settings import Settings


def test_generalised_performance_difference(garnets, random_policies):
    """(1-g) <nu, V - V^pi'> = <d', Q - c - g P V> + E_d'<Q, pi - pi'>, V = <pi, Q>, any Q."""
    rng = np.random.default_rng(0)
    for mdp in garnets:
        for pi, other in itertools.pairwise(random_policies(mdp, 30)):
            q = rng.normal(size=mdp.cost.shape) * 10
            v = (pi * q).sum(axis=1)
            left = (1 - mdp.discount) * mdp.initial @ (v - mdp.value(other))
            d = mdp.occupancy(other)
            error = d * (q - mdp.cost - mdp.discount * mdp.expect(v))
            right = error.sum() + (d.sum(axis=1, keepdims=True) * q * (pi - other)).sum()
            assert left == pytest.approx(right, abs=1e-10)


def multiplicative_weights(qs, eta):
    """pi^1 = uniform, pi^{k+1} ~ pi^k exp(-eta Q^{k+1}); qs[0] is Q^1 = 0."""
    logits = -eta * np.cumsum(qs, axis=0)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@given(st.integers(0, 10**6), st.integers(2, 6), st.floats(1e-3, 10), st.booleans())
def test_btrl_bound_for_any_sequence_of_q(seed, actions, eta, adversarial):
    rng = np.random.default_rng(seed)
    qs = rng.uniform(0, 10, size=(50, actions))
    if adversarial:  # punish whatever is played most
        for k in range(1, 50):
            played = multiplicative_weights(qs[:k] * (np.arange(k) > 0)[:, None], eta)[-1]
            qs[k] = 10.0 * (np.arange(actions) == played.argmax())
    qs[0] = 0.0
    policies = multiplicative_weights(qs, eta)
    for best in np.eye(actions):
        assert (qs * (policies - best)).sum() <= theory.btrl_bound(actions, eta) + 1e-9


@given(st.integers(0, 10**6), st.floats(1e-3, 2))
def test_policies_and_occupancies_change_slowly(seed, eta):
    mdp = mdps.garnet(4, 3, 2, 0.8, seed % 50)
    rng = np.random.default_rng(seed)
    q = rng.uniform(0, 1 / (1 - mdp.discount), size=mdp.cost.shape)
    before = rng.dirichlet(np.ones(3), size=4)
    after = before * np.exp(-eta * q)
    after /= after.sum(axis=1, keepdims=True)
    kl = (after * np.log(after / before)).sum(axis=1)
    assert kl.max() <= theory.kl_step_bound(mdp.discount, eta) + 1e-12
    moved = np.abs(mdp.occupancy(after) - mdp.occupancy(before)).sum()
    assert moved <= theory.occupancy_step_bound(mdp.discount, eta) + 1e-12


@given(st.integers(0, 10**6), st.integers(2, 12), st.floats(1e-3, 5))
def test_cost_gradient_regret_for_any_sequence(seed, dimension, alpha):
    """sum <c_true - c^k, d_k - d_E> <= dim / (8 alpha), whatever the learner and c_true are."""
    rng = np.random.default_rng(seed)
    expert = rng.dirichlet(np.ones(dimension))
    true = rng.integers(0, 2, size=dimension).astype(float)
    c, total = np.full(dimension, 0.5), 0.0
    for _ in range(60):
        worst = np.where(rng.random() < 0.8, np.argmax(true - c), rng.integers(dimension))
        learner = np.eye(dimension)[worst]
        c = np.asarray(cost_update(c, expert, learner, alpha))
        total += (true - c) @ (learner - expert)
    assert total <= theory.gradient_bound(dimension, alpha) * (1 + 1e-5) + 1e-5


def test_the_printed_gradient_bound_is_too_small():
    """2/alpha + alpha K/2 fails in 100 dimensions: the reason for our dim / (8 alpha)."""
    dimension, alpha, rounds = 100, 0.01, 5000
    expert = np.eye(dimension)[0]
    true = np.ones(dimension)
    true[0] = 0.0
    c, total = np.full(dimension, 0.5), 0.0
    for k in range(rounds):
        learner = np.eye(dimension)[1 + k % (dimension - 1)]
        c = np.clip(c - alpha * (expert - learner), 0, 1)
        total += (true - c) @ (learner - expert)
    assert 2 / alpha + alpha * rounds / 2 < total <= theory.gradient_bound(dimension, alpha)


@given(st.integers(0, 10**6))
def test_the_projection_is_idempotent_and_brings_no_points_apart(seed):
    rng = np.random.default_rng(seed)
    c, other = rng.normal(size=(2, 6)) * 3

    def project(x):
        return np.asarray(cost_update(x, np.zeros(6), np.zeros(6), 1.0))

    assert np.all((project(c) >= 0) & (project(c) <= 1))
    np.testing.assert_array_equal(project(project(c)), project(c))
    distance = np.linalg.norm(project(c) - project(other))
    assert distance <= np.linalg.norm(c - other) + 1e-6
    corner = rng.integers(0, 2, size=6)
    assert (c - project(c)) @ (corner - project(c)) <= 1e-5  # the nearest point of the cube


@pytest.fixture(scope="module")
def measured():
    """Regret terms of runs on random MDPs, both data modes, both rules."""
    found = []
    for state_only, rule in itertools.product((True, False), ("min", "mean-std")):
        mdp = mdps.garnet(5, 3, 2, 0.8, seed=8, state_only_cost=state_only)
        iterations = 400
        settings = Settings(
            critics=theory.n_critics(5, 3, iterations, 0.1),
            eta=theory.policy_step(3, 0.8, iterations),
            alpha=theory.cost_step(iterations),
            rule=rule,
            bonus_scale=1.0,
            state_only=state_only,
        )
        seeds = list(range(6))
        experts = [draw_expert(mdp, 200, seed, state_only) for seed in seeds]
        traces = run(mdp, experts, settings, iterations, seeds, chunk=150)
        parts = list(decompose(mdp, traces, experts, mdp.optimal_policy()))
        joined = type(parts[0])(*(np.concatenate(x, axis=1) for x in zip(*parts, strict=True)))
        found.append((mdp, settings, iterations, joined))
    return found


def test_the_regret_decomposes_exactly(measured):
    for _, _, _, r in measured:
        np.testing.assert_allclose(r.regret, r.policy + r.cost, atol=1e-12)
        np.testing.assert_allclose(r.policy, r.btrl + r.optimism + r.shift, atol=1e-10)
        np.testing.assert_allclose(r.cost, r.gradient + r.sampling + r.expert, atol=1e-10)


def test_the_terms_do_not_depend_on_the_chunks():
    """Q^k comes from the trace before. (The sum of the terms would hold for any other Q.)"""
    mdp, settings = mdps.garnet(seed=1), Settings(critics=2)
    experts = [draw_expert(mdp, 30, 0)]
    whole, parts = (
        list(
            decompose(
                mdp, run(mdp, experts, settings, 40, [0], chunk), experts, mdp.optimal_policy()
            )
        )
        for chunk in (40, 10)
    )
    for name in ("btrl", "optimism", "shift"):
        joined = np.concatenate([getattr(part, name) for part in parts], axis=1)
        np.testing.assert_allclose(joined, getattr(whole[0], name), atol=1e-12)


def test_the_regret_is_the_difference_of_values():
    mdp, settings = mdps.garnet(seed=1), Settings(critics=2)
    experts = [draw_expert(mdp, 30, 0)]
    trace = next(run(mdp, experts, settings, 50, [0]))
    r = next(decompose(mdp, [trace], experts, mdp.optimal_policy()))
    gap = mdp.initial_value(trace.policy) - mdp.initial_value(mdp.optimal_policy())
    np.testing.assert_allclose(r.regret / (1 - mdp.discount), gap, atol=1e-10)


def test_every_term_is_within_its_bound(measured):
    delta = 0.1
    for mdp, settings, k, r in measured:
        dimension = mdp.n_states * (1 if settings.state_only else mdp.n_actions)
        optimism = theory.optimism_bound(5, 3, k, settings.critics, 0.8, delta, settings.rule)
        bounds = {
            "btrl": theory.btrl_bound(3, settings.eta),
            "shift": theory.shift_bound(k, 0.8, settings.eta),
            "optimism": optimism,
            "gradient": theory.gradient_bound(dimension, settings.alpha),
            "sampling": theory.sampling_bound(k, settings.alpha, delta),
            "expert": theory.expert_bound(k, dimension, 200, delta),
        }
        for term, bound in bounds.items():
            assert np.all(getattr(r, term).sum(axis=1) <= bound), term
        total = theory.regret_bound(
            5, 3, k, settings.critics, 0.8, settings.eta, settings.alpha, 200, delta,
            settings.rule, settings.state_only,
        )  # fmt: skip
        assert np.all(r.regret.sum(axis=1) / (1 - 0.8) <= total)
        policy = theory.policy_regret_bound(
            5, 3, k, settings.critics, 0.8, settings.eta, delta, settings.rule
        )
        cost = theory.cost_regret_bound(dimension, k, 0.8, settings.alpha, 200, delta)
        assert np.all(r.policy.sum(axis=1) / (1 - 0.8) <= policy)
        assert np.all(r.cost.sum(axis=1) / (1 - 0.8) <= cost)
        assert total == pytest.approx(policy + cost)


def test_the_minimum_of_the_theory_s_l_is_optimistic():
    """Corollary: over whole runs, the failure rate's 99 % upper bound is at most delta."""
    delta, iterations, failures, runs = 0.1, 300, 0, 0
    for number in range(2):
        mdp = mdps.garnet(4, 2, 2, 0.8, seed=number)
        settings = Settings(
            critics=theory.n_critics(4, 2, iterations, delta), eta=0.5, alpha=0.1, rule="min"
        )
        seeds = list(range(30))
        experts = [draw_expert(mdp, 100, seed) for seed in seeds]
        traces = run(mdp, experts, settings, iterations, seeds)
        failed = np.zeros(len(seeds), dtype=bool)
        for part in decompose(mdp, traces, experts, mdp.optimal_policy()):
            failed |= (part.least_optimism < -1e-12).any(axis=1)
        failures, runs = failures + failed.sum(), runs + len(seeds)
    assert stats.beta.ppf(0.99, failures + 1, runs - failures) <= delta


def test_one_critic_is_not_optimistic():
    """The converse: with L = 1 optimism fails in some run (or the test above has no teeth)."""
    mdp = mdps.garnet(4, 2, 2, 0.8, seed=0)
    experts = [draw_expert(mdp, 100, seed) for seed in range(5)]
    settings = Settings(critics=1, eta=0.5, alpha=0.1, rule="min")
    trace = next(run(mdp, experts, settings, 300, range(5)))
    r = next(decompose(mdp, [trace], experts, mdp.optimal_policy()))
    assert (r.least_optimism < -1e-12).any()


@given(st.integers(1, 10**6), st.floats(0, 0.999999))
def test_effective_horizon_of_the_binarised_mdp(states, discount):
    horizon = 1 / (1 - theory.binary_discount(states, discount))
    assert horizon <= theory.binary_horizon_bound(states, discount)


def test_the_binarised_mdp_has_two_successors_and_the_same_values(random_policies):
    for states in (1, 2, 3, 5, 8):
        mdp = mdps.garnet(states, 2, min(states, 4), 0.9, seed=states)
        binary = binarise(mdp)
        assert (binary.transitions > 0).sum(axis=2).max() <= 2
        for policy in random_policies(mdp, 5):
            value = binary.value(lift(policy, binary))[:states]
            np.testing.assert_allclose(value, mdp.value(policy), rtol=1e-9)


def test_the_mixture_policy(random_policies):
    mdp = mdps.garnet(4, 3, 2, 0.8, seed=3)
    mixture = MixturePolicy(random_policies(mdp, 6))
    occupancy = mixture.occupancy(mdp)
    cost = (occupancy * mdp.cost).sum() / (1 - mdp.discount)
    assert mixture.initial_value(mdp) == pytest.approx(cost)
    rng = np.random.default_rng(0)
    last = np.zeros_like(occupancy)
    episodes = 20_000
    for _ in range(episodes):
        states, actions = mixture.roll_out(mdp, rng)
        last[states[-1], actions[-1]] += 1 / episodes
    spread = np.sqrt(occupancy * (1 - occupancy) / episodes)
    assert np.all(np.abs(last - occupancy) < 4 * spread + 1e-12)


def test_the_constants_of_the_theorems():
    assert theory.n_critics(2, 20, 1000, 0.1) == math.ceil(36 * math.log(2 * 20 * 1000 / 0.1))
    assert theory.policy_step(20, 0.9, 1000) == pytest.approx(math.sqrt(math.log(20) * 1e-3 / 1000))
    assert theory.cost_step(10_000) == pytest.approx(0.02)
    k = theory.iterations_needed(2, 3, 0.5, 0.1, 0.1)
    assert k == pytest.approx(2**4 * 3 * math.log(10) * 2**5 / 0.01)
    samples = theory.expert_samples_needed(2, 3, 0.5, 0.1, 0.1)
    log_factor = math.log(60) * (math.log(2) + 2) ** 2
    assert samples == pytest.approx(2**2 * 3 * log_factor / (0.01 * 0.25))
    printed = theory.printed_cost_regret_bound(2, 3, 100, 0.5, 50, 0.1)
    expert = 100 * math.sqrt(6 * math.log(60) / 100)
    assert printed == pytest.approx((4 * math.sqrt(100 * math.log(10)) + expert) / 0.5)
