"""A finite MDP with exact answers: values and occupancies by linear solve, optimal policies.

NumPy, float64. Policies are arrays ``[..., S, A]``: leading axes are batches.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from soar_il.errors import MdpError

Array = NDArray[Any]
_SUM_TOLERANCE = 1e-8
_BLOCK_ENTRIES = 1_000_000


@dataclass(frozen=True, eq=False)
class Mdp:
    """The tuple (S, A, P, c_true, nu_0, gamma) of the paper's Preliminaries.

    transitions  ``P[s, a, s']``, rows sum to one
    cost         ``c_true[s, a]`` in [0, 1]; the learner never sees it
    initial      ``nu_0[s]``
    discount     ``gamma`` in [0, 1)
    """

    transitions: Array
    cost: Array
    initial: Array
    discount: float
    name: str = "mdp"

    def __post_init__(self) -> None:
        for field in ("transitions", "cost", "initial"):
            object.__setattr__(self, field, _numbers(getattr(self, field), field, self.name))
        _check_shapes(self)
        _check_distribution(self.transitions, "transitions", self.name)
        _check_distribution(self.initial, "initial", self.name)
        if not 0.0 <= self.discount < 1.0:
            raise MdpError(
                f"discount is {self.discount}, outside [0, 1)",
                self.name,
                "choose 0 <= discount < 1: without discounting the values may be infinite",
            )
        if self.cost.min() < 0.0 or self.cost.max() > 1.0:
            at = np.unravel_index(np.argmax(np.abs(self.cost - 0.5)), self.cost.shape)
            raise MdpError(
                f"cost is {self.cost[at]:g} at (s={at[0]}, a={at[1]}), outside [0, 1]",
                self.name,
                "rescale: c = (c - c.min()) / (c.max() - c.min()) keeps the optimal policies",
            )

    @property
    def n_states(self) -> int:
        return int(self.transitions.shape[0])

    @property
    def n_actions(self) -> int:
        return int(self.transitions.shape[1])

    @property
    def state_only_cost(self) -> bool:
        """Whether the true cost ignores the action, as state-only imitation needs."""
        return bool(np.all(self.cost == self.cost[:, :1]))

    def value(self, policy: ArrayLike, cost: ArrayLike | None = None) -> Array:
        """V^pi_c ``[..., S]``, from V = c_pi + gamma P_pi V; the true cost unless one is given."""
        pi = self.checked_policy(policy)
        c = self.cost if cost is None else np.asarray(cost, dtype=float)
        return self._solve(pi, np.sum(pi * c, axis=-1), forward=False)

    def action_value(self, policy: ArrayLike, cost: ArrayLike | None = None) -> Array:
        """Q^pi_c ``[..., S, A]``."""
        c = self.cost if cost is None else np.asarray(cost, dtype=float)
        return c + self.discount * self.expect(self.value(policy, c))

    def expect(self, value: ArrayLike) -> Array:
        """P V ``[..., S, A]``: the expected value of the next state."""
        return np.einsum("sap,...p->...sa", self.transitions, np.asarray(value))

    def occupancy(self, policy: ArrayLike) -> Array:
        """d^pi ``[..., S, A]``, which sums to one."""
        pi = self.checked_policy(policy)
        start = np.broadcast_to((1 - self.discount) * self.initial, pi.shape[:-1])
        return self._solve(pi, start, forward=True)[..., None] * pi

    def initial_value(self, policy: ArrayLike, cost: ArrayLike | None = None) -> Array:
        """<nu_0, V^pi_c> ``[...]``: what a policy costs from the start."""
        return self.value(policy, cost) @ self.initial

    def optimal_policy(self) -> Array:
        """A deterministic policy of least cost, by policy iteration (ties: lowest action)."""
        greedy = np.zeros(self.n_states, dtype=int)
        while True:
            q = self.action_value(np.eye(self.n_actions)[greedy])
            better = np.argmin(q, axis=1)
            rows = np.arange(self.n_states)
            gain = q[rows, greedy] - q[rows, better]
            if np.all(gain <= 1e-12):
                q_tied = np.isclose(q, q.min(axis=1, keepdims=True), rtol=0.0, atol=1e-10)
                return np.eye(self.n_actions)[np.argmax(q_tied, axis=1)]
            greedy = np.where(gain > 1e-12, better, greedy)

    def soft_optimal_policy(self, temperature: float) -> Array:
        """The policy of least cost minus ``temperature`` times entropy, by soft value iteration."""
        if not temperature > 0.0:
            raise MdpError(
                f"temperature is {temperature}",
                self.name,
                "use a positive temperature, or optimal_policy()",
            )
        value = np.zeros(self.n_states)
        while True:
            logits = -(self.cost + self.discount * self.expect(value)) / temperature
            top = logits.max(axis=1)
            total = np.exp(logits - top[:, None]).sum(axis=1)
            new = -temperature * (top + np.log(total))
            if np.max(np.abs(new - value)) <= 1e-12 * max(1.0, float(np.max(np.abs(new)))):
                return np.exp(logits - top[:, None]) / total[:, None]
            value = new

    def uniform_policy(self) -> Array:
        """pi^1: the uniform distribution over actions."""
        return np.full((self.n_states, self.n_actions), 1.0 / self.n_actions)

    def checked_policy(self, policy: ArrayLike) -> Array:
        """The policy as an array, or an error that names the row that is no distribution."""
        pi = _numbers(policy, "policy", self.name)
        if pi.shape[-2:] != (self.n_states, self.n_actions):
            raise MdpError(
                f"policy has shape {pi.shape}, its last two axes must be "
                f"({self.n_states}, {self.n_actions})",
                self.name,
                "give one row per state and one probability per action",
            )
        _check_distribution(pi, "policy", self.name)
        return pi

    def _solve(self, pi: Array, right: Array, forward: bool) -> Array:
        """x = right + gamma P_pi x, or P_pi^T for the way forward; in blocks, for memory."""
        size = self.n_states
        policies, rights = pi.reshape(-1, size, self.n_actions), right.reshape(-1, size, 1)
        result = np.empty_like(rights)
        block = max(1, _BLOCK_ENTRIES // size**2)
        for i in range(0, len(policies), block):
            kernel = np.einsum("nsa,sap->nsp", policies[i : i + block], self.transitions)
            if forward:
                kernel = np.swapaxes(kernel, 1, 2)
            system = np.eye(size) - self.discount * kernel
            result[i : i + block] = np.linalg.solve(system, rights[i : i + block])
        return result.reshape(right.shape)


def _numbers(x: ArrayLike, field: str, name: str) -> Array:
    try:
        array = np.array(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MdpError(f"{field} is not an array of numbers ({error})", name) from None
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        at = tuple(int(i) for i in bad[0])
        raise MdpError(
            f"{field}{list(at)} is {array[at]}", name, "every entry must be a finite number"
        )
    return array


def _check_shapes(mdp: Mdp) -> None:
    shape = mdp.transitions.shape
    if len(shape) != 3 or shape[0] != shape[2] or 0 in shape:
        raise MdpError(
            f"transitions has shape {shape}",
            mdp.name,
            "it must be [S, A, S]: P[s, a, s'], with at least one state and action",
        )
    for field, wanted in (("cost", shape[:2]), ("initial", shape[:1])):
        got = getattr(mdp, field).shape
        if got != wanted:
            raise MdpError(
                f"{field} has shape {got}, transitions {shape}",
                mdp.name,
                f"{field} must have shape {wanted}",
            )


def _check_distribution(rows: Array, field: str, name: str) -> None:
    """Rows (last axis) are non-negative and sum to one."""
    low = np.argwhere(rows < 0.0)
    if len(low):
        at = tuple(int(i) for i in low[0])
        raise MdpError(f"{field}{list(at)} is {rows[at]:g}, a negative probability", name)
    total = rows.sum(axis=-1)
    off = np.argwhere(np.abs(total - 1.0) > _SUM_TOLERANCE)
    if len(off):
        at = tuple(int(i) for i in off[0])
        row = f"{field}{list(at)}" if at else field
        raise MdpError(
            f"{row} sums to {total[at]:.10g}, not 1",
            name,
            f"divide each row of {field} by its sum",
        )
