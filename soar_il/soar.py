"""Algorithm 1, SOAR imitation learning: the one loop, for tabular and deep alike.

``Parts`` says how each line is done; ``State`` is all there is between two iterations.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from soar_il import rng

Seen = dict[str, Any]


class State(NamedTuple):
    """What iteration k starts from. A checkpoint is this and nothing else."""

    k: Any  # 1, 2, ..., K
    policy: Any  # pi^k
    cost: Any  # c^{k-1}
    critics: Any  # what the L estimators start from (tabular: Q^k; deep: the networks)
    data: Any  # D^{k-1}


def once(improve: Callable[..., Any]) -> Callable[..., Any]:
    """Lines 7-11 are gone through one time."""
    return improve


class Parts(NamedTuple):
    """How each line of Algorithm 1 is done. None of them is ever given the true cost."""

    expert: Any  # D_E
    collect: Callable[..., Any]  # (policy, key) -> tau
    add: Callable[..., Any]  # (data, tau) -> data
    update_cost: Callable[..., Any]  # (cost, expert, tau, data, key) -> cost, seen
    estimate: Callable[..., Any]  # (critics, policy, cost, data, key) -> L estimates, seen
    optimistic_q: Callable[..., Any]  # (L estimates, cost) -> critics, Q
    update_policy: Callable[..., Any]  # (policy, Q, data, key) -> policy, seen
    repeat: Callable[..., Any] = once  # how often lines 7-11 are gone through in an iteration


def iteration(parts: Parts, state: State, seed: Any) -> tuple[State, Seen]:
    """One pass of the loop of Algorithm 1."""
    key = rng.at(seed, state.k)
    tau = parts.collect(state.policy, key("collect"))  # line 4
    data = parts.add(state.data, tau)  # line 5
    cost, seen = parts.update_cost(state.cost, parts.expert, tau, data, key("cost"))  # line 6
    lines_7_to_11 = parts.repeat(improve)
    critics, policy, done = lines_7_to_11(parts, state.critics, state.policy, cost, data, key)
    return State(state.k + 1, policy, cost, critics, data), seen | done


def improve(
    parts: Parts, critics: Any, policy: Any, cost: Any, data: Any, key: rng.Streams
) -> tuple[Any, Any, Seen]:
    """Estimate L times, combine optimistically, move the policy."""
    estimates, fit = parts.estimate(critics, policy, cost, data, key("critics"))  # lines 7-9
    critics, q = parts.optimistic_q(estimates, cost)  # line 10
    policy, step = parts.update_policy(policy, q, data, key("policy"))  # line 11
    return critics, policy, fit | step


def run(parts: Parts, state: State, seed: Any) -> Iterator[tuple[State, Seen]]:
    """Iterate for ever; the caller decides when to stop, log, evaluate and checkpoint.

    Nothing the caller does with what it is given can reach back into the learner.
    """
    while True:
        state, seen = iteration(parts, state, seed)
        yield state, seen
