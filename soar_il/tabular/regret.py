"""Regret and its decomposition, computed exactly along a run.

All terms are increments of (1 - gamma) Regret, one an iteration, as the paper writes its sums:

    regret          <c_true, d^k - d^E>              = policy + cost
    policy          <c^k, d^k - d^E>                 = btrl + optimism + shift
    cost            <c_true - c^k, d^k - d^E>        = gradient + sampling + expert
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from soar_il.errors import MdpError
from soar_il.tabular.expert import ExpertData
from soar_il.tabular.mdp import Array, Mdp
from soar_il.tabular.run import Trace


class Regret(NamedTuple):
    """Increments [B, n] for the n iterations of a trace of B runs."""

    regret: Array
    policy: Array
    btrl: Array
    optimism: Array
    shift: Array
    cost: Array
    gradient: Array
    sampling: Array
    expert: Array
    least_optimism: Array  # the smallest delta^k(s, a): negative where optimism failed


def decompose(
    mdp: Mdp, traces: Iterable[Trace], experts: Sequence[ExpertData], expert_policy: Array
) -> Iterator[Regret]:
    """The regret of each trace of a run, against the expert that the data came from."""
    if experts[0].state_only and not mdp.state_only_cost:
        raise MdpError(
            "the true cost depends on the action, the expert data on states only",
            mdp.name,
            "use state-action data, or an MDP whose cost is a function of the state",
        )
    estimate = np.stack([data.occupancy for data in experts])[:, None]
    d_expert = mdp.occupancy(expert_policy)
    q_before: Array | None = None
    for trace in traces:
        first = np.zeros_like(trace.q[:, :1]) if q_before is None else q_before
        q = np.concatenate([first, trace.q[:, :-1]], axis=1)
        yield _terms(mdp, trace, q, estimate, d_expert, expert_policy)
        q_before = trace.q[:, -1:]


def _terms(
    mdp: Mdp, trace: Trace, q: Array, estimate: Array, d_expert: Array, expert_policy: Array
) -> Regret:
    d = mdp.occupancy(trace.policy)
    ahead = d - d_expert
    state_only = trace.cost.ndim == 3
    c = trace.cost[..., None] if state_only else trace.cost
    value = np.sum(trace.policy * q, axis=-1)
    delta = c + mdp.discount * mdp.expect(value) - trace.q
    shift = trace.q - q
    gap = mdp.cost[:, 0] - trace.cost if state_only else mdp.cost - trace.cost
    d_seen, d_expert_seen = (d.sum(-1), d_expert.sum(-1)) if state_only else (d, d_expert)
    learner = trace.learner_occupancy
    policy, cost = _sum(c * ahead), _sum((mdp.cost - c) * ahead)
    return Regret(
        regret=policy + cost,
        policy=policy,
        btrl=_sum(d_expert.sum(-1)[:, None] * q * (trace.policy - expert_policy)),
        optimism=_sum(ahead * delta),
        shift=_sum(ahead * shift),
        cost=cost,
        gradient=_sum(gap * (learner - estimate)),
        sampling=_sum(gap * (d_seen - learner)),
        expert=_sum(gap * (estimate - d_expert_seen)),
        least_optimism=delta.min(axis=(-1, -2)),
    )


def _sum(x: Array) -> Array:
    return x.reshape(*x.shape[:2], -1).sum(axis=-1)
