"""The MDPs of the experiments, by name."""

from collections.abc import Callable
from typing import Any

import numpy as np

from soar_il.errors import MdpError, closest
from soar_il.tabular.mdp import Mdp


def hard_exploration(discount: float = 0.99, actions: int = 20, gap: float = 0.01) -> Mdp:
    """The two-state MDP of the paper's hard-exploration task (lower bound of Moulin et al.).

    State 0 is the low-reward state (cost 1), state 1 the high-reward one (cost 0). Every action
    changes the state with probability (1 - gamma) / gamma, but action 0 leaves the *low* state
    with ``gap`` more. It starts in the low state, where the choice matters.
    """
    return _two_states("hard-exploration", discount, actions, gap, good_in_low=True)


def hard_exploration_as_released(
    discount: float = 0.99, actions: int = 20, gap: float = 0.01
) -> Mdp:
    """The released notebook's variant: the better action is in the *high* state, the start too.

    There every action changes the state with probability (1 - gamma) / gamma, but action 0 leaves
    the high state with ``gap`` less.
    """
    return _two_states("hard-exploration-as-released", discount, actions, gap, good_in_low=False)


def _two_states(name: str, discount: float, actions: int, gap: float, good_in_low: bool) -> Mdp:
    low, high = 0, 1
    leave = (1 - discount) / discount if discount > 0.0 else 1.0
    good = leave + gap if good_in_low else leave - gap
    if not (0.0 <= leave <= 1.0 and 0.0 <= good <= 1.0):
        raise MdpError(
            f"leaving probabilities {leave:g} and {good:g} must lie in [0, 1]",
            name,
            "raise the discount or shrink the gap",
        )
    change = np.full((2, actions), leave)
    change[low if good_in_low else high, 0] = good
    transitions = np.zeros((2, actions, 2))
    for state in (low, high):
        transitions[state, :, 1 - state] = change[state]
        transitions[state, :, state] = 1 - change[state]
    cost = np.zeros((2, actions))
    cost[low] = 1.0
    initial = np.eye(2)[low if good_in_low else high]
    return Mdp(transitions, cost, initial, discount, name)


def garnet(
    states: int = 5,
    actions: int = 3,
    branching: int = 2,
    discount: float = 0.9,
    seed: int = 0,
    state_only_cost: bool = True,
) -> Mdp:
    """A random MDP: from each pair, ``branching`` random successors with random probabilities."""
    if not 1 <= branching <= states:
        raise MdpError(
            f"branching is {branching} with {states} states", "garnet", "choose 1 <= it <= states"
        )
    rng = np.random.default_rng(seed)
    transitions = np.zeros((states, actions, states))
    for s in range(states):
        for a in range(actions):
            successors = rng.choice(states, size=branching, replace=False)
            transitions[s, a, successors] = rng.dirichlet(np.ones(branching))
    shape = (states, 1) if state_only_cost else (states, actions)
    cost = np.broadcast_to(rng.uniform(size=shape), (states, actions))
    initial = rng.dirichlet(np.ones(states))
    return Mdp(transitions, cost, initial, discount, f"garnet-{seed}")


def chain(length: int = 6, discount: float = 0.95, slip: float = 0.1) -> Mdp:
    """A corridor: only the far right end is free, and ``left`` always works.

    Action 0 goes left; action 1 goes right and slips left with probability ``slip``.
    """
    transitions = np.zeros((length, 2, length))
    for s in range(length):
        left, right = max(s - 1, 0), min(s + 1, length - 1)
        transitions[s, 0, left] += 1.0
        transitions[s, 1, right] += 1.0 - slip
        transitions[s, 1, left] += slip
    cost = np.ones((length, 2))
    cost[-1] = 0.0
    return Mdp(transitions, cost, np.eye(length)[0], discount, "chain")


def deep_sea(depth: int = 5, discount: float = 0.95) -> Mdp:
    """The deep-sea grid: one path of ``depth`` right moves leads to the treasure.

    Cell (row, column) is state row * depth + column. Each action goes a row down; action 1 also
    goes right, at a slightly higher cost, so greed leads away. The bottom row leads to the start.
    """
    transitions = np.zeros((depth * depth, 2, depth * depth))
    cost = np.ones((depth * depth, 2))
    cost[:, 0] -= 0.01 / depth
    for row in range(depth):
        for column in range(depth):
            for action in (0, 1):
                shifted = min(column + 1, depth - 1) if action else max(column - 1, 0)
                target = (row + 1) * depth + shifted if row + 1 < depth else 0
                transitions[row * depth + column, action, target] = 1.0
    cost[-1] = 0.0
    return Mdp(transitions, cost, np.eye(depth * depth)[0], discount, "deep-sea")


def from_gymnasium(env: Any, discount: float = 0.95) -> Mdp:
    """A Gymnasium toy-text environment (id or instance) as an ``Mdp``.

    Rewards become costs (r_max - r) / (r_max - r_min). Termination leads to one extra absorbing
    state whose steps have reward 0, as an ended episode has.
    """
    if isinstance(env, str):
        import gymnasium

        try:
            env = gymnasium.make(env)
        except gymnasium.error.Error as error:
            raise MdpError(str(error), env, "name a registered toy-text environment") from None
    inner = env.unwrapped
    table, initial = getattr(inner, "P", None), getattr(inner, "initial_state_distrib", None)
    name = env.spec.id if getattr(env, "spec", None) else type(inner).__name__
    if not isinstance(table, dict) or initial is None:
        raise MdpError(
            "has no transition table `P` with `initial_state_distrib`",
            name,
            "use a tabular environment such as FrozenLake-v1, CliffWalking-v1 or Taxi-v4",
        )
    states, actions = len(table), len(table[0])
    end = states
    transitions = np.zeros((states + 1, actions, states + 1))
    reward = np.zeros((states + 1, actions))
    transitions[end, :, end] = 1.0
    for s in range(states):
        for a in range(actions):
            for probability, target, r, terminated in table[s][a]:
                transitions[s, a, end if terminated else target] += probability
                reward[s, a] += probability * r
    transitions /= transitions.sum(axis=-1, keepdims=True)
    high, low = reward.max(), reward.min()
    cost = (high - reward) / (high - low if high > low else 1.0)
    return Mdp(transitions, cost, np.append(initial, 0.0), discount, name)


MDPS: dict[str, Callable[..., Mdp]] = {
    "hard-exploration": hard_exploration,
    "hard-exploration-as-released": hard_exploration_as_released,
    "garnet": garnet,
    "chain": chain,
    "deep-sea": deep_sea,
}


def make(name: str, **arguments: Any) -> Mdp:
    """An MDP by its name in ``MDPS``, or a Gymnasium toy-text id such as ``FrozenLake-v1``."""
    if name in MDPS:
        try:
            return MDPS[name](**arguments)
        except TypeError as error:
            raise MdpError(str(error), name) from None
    if name.rpartition("-v")[2].isdigit():
        return from_gymnasium(name, **arguments)
    raise MdpError(f"no MDP is called {name!r}", do=closest(name, MDPS))
