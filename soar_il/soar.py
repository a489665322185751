"""Algorithm 1, SOAR imitation learning: the one loop, for tabular and deep alike.

``Parts`` says how each line is done, ``Learner`` how lines 7-11 are; ``State`` is all there is
between two iterations.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from soar_il import rng
from soar_il.types import Count, Metrics, Tree

Made = tuple[Tree, Metrics]  # what a line makes, and numbers about it for people


class State(NamedTuple):
    """What iteration k starts from. A checkpoint is this and nothing else."""

    k: int | Count  # 1, 2, ..., K
    policy: Tree  # pi^k
    cost: Tree  # c^{k-1}
    critics: Tree  # what the L estimators start from (tabular: Q^k; deep: the networks)
    data: Tree  # D^{k-1}


class Learner(NamedTuple):
    """Lines 7-11: L estimates on different data, their optimistic combination, a policy step."""

    estimate: Callable[..., Made]  # (critics, policy, cost, data, key) -> L estimates, seen
    optimistic_q: Callable[..., tuple[Tree, Tree]]  # (L estimates, cost) -> critics, Q
    update_policy: Callable[..., Made]  # (policy, Q, cost, data, key) -> policy, seen


class Parts(NamedTuple):
    """How each line of Algorithm 1 is done. None of them is ever given the true cost."""

    expert: Tree  # D_E
    collect: Callable[..., Tree]  # (policy, key) -> tau
    add: Callable[..., Tree]  # (data, tau) -> data
    update_cost: Callable[..., Made]  # (cost, expert, tau, data, policy, key) -> cost, seen
    improve: Callable[..., tuple[Tree, Tree, Metrics]]
    """(critics, policy, cost, data, key) -> critics, policy, seen: lines 7-11"""


def iteration(parts: Parts, state: State, seed: int | Count) -> tuple[State, Tree, Metrics]:
    """One pass of the loop of Algorithm 1: the new state, the trajectories tau, what was seen."""
    _, policy, cost, critics, data = state
    key = rng.at(seed, state.k)
    tau = parts.collect(policy, key("collect"))  # line 4
    data = parts.add(data, tau)  # line 5
    cost, seen = parts.update_cost(cost, parts.expert, tau, data, policy, key("cost"))  # line 6
    critics, policy, done = parts.improve(critics, policy, cost, data, key)  # lines 7-11
    return State(state.k + 1, policy, cost, critics, data), tau, seen | done


def improve(
    learner: Learner, critics: Tree, policy: Tree, cost: Tree, data: Tree, key: rng.Streams
) -> tuple[Tree, Tree, Metrics]:
    """Estimate L times, combine optimistically, move the policy."""
    estimates, fit = learner.estimate(critics, policy, cost, data, key("critics"))  # lines 7-9
    critics, q = learner.optimistic_q(estimates, cost)  # line 10
    policy, step = learner.update_policy(policy, q, cost, data, key("policy"))  # line 11
    return critics, policy, fit | step


def run(parts: Parts, state: State, seed: int) -> Iterator[tuple[State, Tree, Metrics]]:
    """Iterate for ever; the caller decides when to stop, log, evaluate and checkpoint.

    Nothing that the caller does with the results changes what is learned.
    """
    while True:
        state, tau, seen = iteration(parts, state, seed)
        yield state, tau, seen
