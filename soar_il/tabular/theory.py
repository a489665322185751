"""The theory's constants and bounds, with the paper's letters.

Every bound is for costs in [0, 1], so Q_max = 1 / (1 - gamma). ``log`` is natural. Where the paper
prints something that does not hold, the function gives what does and says so;
``docs/deviations.md`` lists these places.
"""

import math
from typing import Literal

from soar_il.tabular.mdp import Array

Rule = Literal["min", "mean-std"]


def n_critics(n_states: int, n_actions: int, iterations: int, delta: float) -> int:
    """L = 36 log(S A K / delta), rounded up (Corollary on optimism)."""
    return math.ceil(36 * math.log(n_states * n_actions * iterations / delta))


def policy_step(n_actions: int, discount: float, iterations: int) -> float:
    """eta = sqrt(log A (1 - gamma)^3 / K) (Theorem on the policy regret)."""
    return math.sqrt(math.log(n_actions) * (1 - discount) ** 3 / iterations)


def cost_step(iterations: int) -> float:
    """alpha = sqrt(4 / K) (proof of the cost-regret theorem, where it is called eta)."""
    return math.sqrt(4 / iterations)


def iterations_needed(
    n_states: int, n_actions: int, discount: float, epsilon: float, delta: float
) -> float:
    """K of the main theorem, S^4 A log(1/delta) / ((1-gamma)^5 eps^2), its hidden logs set to 1."""
    horizon = (1 - discount) ** 5
    return n_states**4 * n_actions * math.log(1 / delta) / (horizon * epsilon**2)


def expert_samples_needed(
    n_states: int, n_actions: int, discount: float, epsilon: float, delta: float
) -> float:
    """|D_E| of the main theorem, as printed."""
    log_factor = math.log(n_states * n_actions / delta) * (math.log(n_states) + 2) ** 2
    return n_states**2 * n_actions * log_factor / (epsilon**2 * (1 - discount) ** 2)


def btrl_bound(n_actions: int, eta: float) -> float:
    """(BTRL) <= log A / eta, for any sequence of Q that starts with Q^1 = 0."""
    return math.log(n_actions) / eta


def kl_step_bound(discount: float, eta: float) -> float:
    """KL(pi^{k+1}, pi^k) <= (eta Q_max)^2 / 2 in every state."""
    return (eta / (1 - discount)) ** 2 / 2


def occupancy_step_bound(discount: float, eta: float) -> float:
    """Slow-changing lemma: ||d^{pi^k} - d^{pi^{k+1}}||_1 <= eta Q_max / (1 - gamma)."""
    return eta / (1 - discount) ** 2


def shift_bound(iterations: int, discount: float, eta: float) -> float:
    """(Shift) <= 2 Q_max + eta (K - 1) Q_max^2 / (1 - gamma).

    The paper prints eta K / (1-gamma)^3, which loses the first term: at eta -> 0 it would be 0.
    """
    q_max = 1 / (1 - discount)
    return 2 * q_max + eta * (iterations - 1) * q_max**2 / (1 - discount)


def longest_trajectory(iterations: int, discount: float, delta: float) -> float:
    """L_max: with probability 1 - delta no trajectory of the run is longer."""
    return math.log(iterations / delta) / (1 - discount)


def visits_bound(
    n_states: int, n_actions: int, iterations: int, critics: int, discount: float, delta: float
) -> float:
    """Lemma on counts: the sum over k of E_{d^{pi^k}}[1 / (N^k / L + 1)] is at most this."""
    steps = iterations * longest_trajectory(iterations, discount, delta)
    pairs = n_states * n_actions
    return 2 * critics * pairs * math.log(steps) + 4 * math.log(2 * steps / delta)


def pair_bound(
    n_states: int,
    n_actions: int,
    iterations: int,
    critics: int,
    discount: float,
    delta: float,
    visits: Array,
) -> Array:
    """Bounded-optimism lemma: P V^k - P_l V^k of a pair that was visited N^k times, at most.

    With probability 1 - delta for every pair, l and k at once. The proof counts N^k up to K, but a
    pair can be visited K L_max times. Counted by visits alone, that many cases are enough, and the
    printed K (K + 1) is more whenever K + 1 >= L_max; then it holds as printed.
    """
    q_max, share = 1 / (1 - discount), visits / critics + 1
    logs = _log_cases(n_states, n_actions, iterations, critics, discount, delta)
    return q_max * (n_states * logs / share) ** 0.5 + 2 / iterations + 2 * q_max / share


def _log_cases(
    n_states: int, n_actions: int, iterations: int, critics: int, discount: float, delta: float
) -> float:
    """log(S A L K^2 (K + 1) / ((1 - gamma) delta)), the union bound of the lemma on a pair."""
    pairs = n_states * n_actions
    cases = pairs * critics * iterations**2 * (iterations + 1)
    return math.log(cases / ((1 - discount) * delta))


def optimism_bound(
    n_states: int,
    n_actions: int,
    iterations: int,
    critics: int,
    discount: float,
    delta: float,
    rule: Rule = "min",
) -> float:
    """(Optimism), from the displays of the appendix with their constants (binarised MDPs)."""
    k, q_max = iterations, 1 / (1 - discount)
    visits = visits_bound(n_states, n_actions, k, critics, discount, delta)
    log_factor = n_states * _log_cases(n_states, n_actions, k, critics, discount, delta)
    estimate = q_max * math.sqrt(k * log_factor * visits) + 2 * q_max * visits + 4
    if rule == "min":
        return estimate
    squares = 3 * log_factor * q_max**2 * visits + 12 / k + 12 * q_max**2 * visits
    return estimate + discount * math.sqrt(2 * k * critics * squares)


def policy_regret_bound(
    n_states: int,
    n_actions: int,
    iterations: int,
    critics: int,
    discount: float,
    eta: float,
    delta: float,
    rule: Rule = "min",
) -> float:
    """Regret_pi(K): the three terms over 1 - gamma (Theorem on the policy regret)."""
    terms = (
        btrl_bound(n_actions, eta)
        + shift_bound(iterations, discount, eta)
        + optimism_bound(n_states, n_actions, iterations, critics, discount, delta, rule)
    )
    return terms / (1 - discount)


def gradient_bound(dimension: int, alpha: float) -> float:
    """First term of the cost regret <= dim / (8 alpha), from c^0 = 1/2 and c^k that has seen k.

    The paper prints 2 / alpha + alpha K / 2, taking the cost class to have l2 radius 2, but the
    cube [0, 1]^dim is larger from 16 dimensions on.
    """
    return dimension / (8 * alpha)


def sampling_bound(iterations: int, alpha: float, delta: float) -> float:
    """Second term of the cost regret, with probability 1 - delta.

    c^k has seen tau^k, so the paper's sum is no martingale. With c^{k-1} it is one, to which
    Hoeffding's inequality gives the paper's root: given the past, an increment is a constant minus
    a coordinate of c_true - c^{k-1}, so it has a range of width 2. The step from c^{k-1} to c^k
    costs at most 2 alpha an iteration.
    """
    return math.sqrt(2 * iterations * math.log(1 / delta)) + 2 * alpha * iterations


def expert_bound(iterations: int, dimension: int, expert_samples: int, delta: float) -> float:
    """Third term of the cost regret, with probability 1 - delta: K times the l1 error of d_E.

    The paper prints sqrt(S A) times the largest error, where Hoelder's inequality gives S A.
    """
    spread = 2 * (dimension * math.log(2) + math.log(1 / delta)) / expert_samples
    return iterations * math.sqrt(spread)


def cost_regret_bound(
    dimension: int,
    iterations: int,
    discount: float,
    alpha: float,
    expert_samples: int,
    delta: float,
) -> float:
    """Regret_c(K) with probability 1 - 2 delta; dimension is S (state-only) or S A."""
    terms = (
        gradient_bound(dimension, alpha)
        + sampling_bound(iterations, alpha, delta)
        + expert_bound(iterations, dimension, expert_samples, delta)
    )
    return terms / (1 - discount)


def printed_cost_regret_bound(
    n_states: int,
    n_actions: int,
    iterations: int,
    discount: float,
    expert_samples: int,
    delta: float,
) -> float:
    """Regret_c(K) as the theorem prints it."""
    pairs = n_states * n_actions
    expert = math.sqrt(pairs * math.log(pairs / delta) / (2 * expert_samples))
    terms = 4 * math.sqrt(iterations * math.log(1 / delta)) + iterations * expert
    return terms / (1 - discount)


def regret_bound(
    n_states: int,
    n_actions: int,
    iterations: int,
    critics: int,
    discount: float,
    eta: float,
    alpha: float,
    expert_samples: int,
    delta: float,
    rule: Rule = "min",
    state_only: bool = True,
) -> float:
    """Regret(K) with probability 1 - 5 delta, for an MDP with at most two successors a pair."""
    dimension = n_states if state_only else n_states * n_actions
    return policy_regret_bound(
        n_states, n_actions, iterations, critics, discount, eta, delta, rule
    ) + cost_regret_bound(dimension, iterations, discount, alpha, expert_samples, delta)


def binary_depth(n_states: int) -> int:
    """Levels of the binary tree that replaces one transition: log2 S, rounded up, at least 1."""
    return max(1, math.ceil(math.log2(n_states)))


def binary_discount(n_states: int, discount: float) -> float:
    """gamma^(1 / log2 S): a step of the original is that many of the binarised MDP.

    A remark of the paper has the exponent -log2 S, its lemma the one used here.
    """
    return discount ** (1 / binary_depth(n_states))


def binary_horizon_bound(n_states: int, discount: float) -> float:
    """Lemma on the effective horizon: 1 / (1 - gamma_bin) <= (log2 S + 2) / (1 - gamma)."""
    return (binary_depth(n_states) + 2) / (1 - discount)
