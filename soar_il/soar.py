"""Algorithm 1, SOAR imitation learning: the one loop, for tabular and deep alike.

``Parts`` says how each line is done, ``Learner`` how lines 7-11 are; ``State`` is all there is
between two iterations.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from soar_il import rng

Seen = dict[str, Any]  # numbers about an iteration, by name; nothing reads them but people


class State(NamedTuple):
    """What iteration k starts from. A checkpoint is this and nothing else."""

    k: Any  # 1, 2, ..., K
    policy: Any  # pi^k
    cost: Any  # c^{k-1}
    critics: Any  # what the L estimators start from (tabular: Q^k; deep: the networks)
    data: Any  # D^{k-1}


class Learner(NamedTuple):
    """Lines 7-11: L estimates on different data, their optimistic combination, a policy step."""

    estimate: Callable[..., Any]  # (critics, policy, cost, data, key) -> L estimates, seen
    optimistic_q: Callable[..., Any]  # (L estimates, cost) -> critics, Q
    update_policy: Callable[..., Any]  # (policy, Q, cost, data, key) -> policy, seen


class Parts(NamedTuple):
    """How each line of Algorithm 1 is done. None of them is ever given the true cost."""

    expert: Any  # D_E
    collect: Callable[..., Any]  # (policy, key) -> tau
    add: Callable[..., Any]  # (data, tau) -> data
    update_cost: Callable[..., Any]  # (cost, expert, tau, data, policy, key) -> cost, seen
    improve: Callable[..., Any]  # (critics, policy, cost, data, key) -> critics, policy, seen


def iteration(parts: Parts, state: State, seed: Any) -> tuple[State, Any, Seen]:
    """One pass of the loop of Algorithm 1: the new state, the trajectories tau, what was seen."""
    _, policy, cost, critics, data = state
    key = rng.at(seed, state.k)
    tau = parts.collect(policy, key("collect"))  # line 4
    data = parts.add(data, tau)  # line 5
    cost, seen = parts.update_cost(cost, parts.expert, tau, data, policy, key("cost"))  # line 6
    critics, policy, done = parts.improve(critics, policy, cost, data, key)  # lines 7-11
    return State(state.k + 1, policy, cost, critics, data), tau, seen | done


def improve(
    learner: Learner, critics: Any, policy: Any, cost: Any, data: Any, key: rng.Streams
) -> tuple[Any, Any, Seen]:
    """Estimate L times, combine optimistically, move the policy."""
    estimates, fit = learner.estimate(critics, policy, cost, data, key("critics"))  # lines 7-9
    critics, q = learner.optimistic_q(estimates, cost)  # line 10
    policy, step = learner.update_policy(policy, q, cost, data, key("policy"))  # line 11
    return critics, policy, fit | step


def run(parts: Parts, state: State, seed: Any) -> Iterator[tuple[State, Any, Seen]]:
    """Iterate for ever; the caller decides when to stop, log, evaluate and checkpoint.

    Nothing the caller does with what it is given can reach back into the learner.
    """
    while True:
        state, tau, seen = iteration(parts, state, seed)
        yield state, tau, seen
