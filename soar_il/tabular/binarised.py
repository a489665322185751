"""Any MDP as one with at most two successors a pair, as the proofs assume."""

import numpy as np

from soar_il.tabular import theory
from soar_il.tabular.mdp import Mdp


def binarise(mdp: Mdp) -> Mdp:
    """The same MDP with each transition spread over a binary tree of log2 S levels.

    The first S states are the original ones, with the same costs and the same values under the
    same policy; the nodes of the trees follow and cost nothing. A node belongs to a pair (s, a), so
    that an action cannot be changed half-way: S + S A (2^depth - 2) states. (The paper counts S^2,
    which forgets the action.) Whatever is played in a node makes no difference.
    """
    states, actions = mdp.n_states, mdp.n_actions
    depth = theory.binary_depth(states)
    leaves = 2**depth
    inner = leaves - 2
    total = states + states * actions * inner
    transitions = np.zeros((total, actions, total))
    cost = np.zeros((total, actions))
    cost[:states] = mdp.cost
    for s in range(states):
        for a in range(actions):
            first = states + (s * actions + a) * inner
            mass = np.zeros(leaves)
            mass[:states] = mdp.transitions[s, a]
            levels = [mass.reshape(2**level, -1).sum(axis=1) for level in range(depth + 1)]
            for level in range(depth):
                for node in range(2**level):
                    row = (s, a) if level == 0 else (_node(first, level, node), slice(None))
                    for child, probability in _split(levels[level + 1], node):
                        if level + 1 < depth:
                            target = _node(first, level + 1, child)
                        else:
                            target = min(child, states - 1)
                        transitions[(*row, target)] += probability
    initial = np.append(mdp.initial, np.zeros(total - states))
    discount = theory.binary_discount(states, mdp.discount)
    return Mdp(transitions, cost, initial, discount, f"{mdp.name}-binarised")


def lift(policy: np.ndarray, binary: Mdp) -> np.ndarray:
    """A policy of the original as one of its binarised MDP: uniform in the trees' nodes."""
    lifted = binary.uniform_policy()
    lifted[: len(policy)] = policy
    return lifted


def _node(first: int, level: int, node: int) -> int:
    """Nodes of a tree in level order, without the root, which is the pair itself."""
    return first + (2**level - 2) + node


def _split(below: np.ndarray, node: int) -> list[tuple[int, float]]:
    """The two children of a node with their probabilities; left where nothing arrives."""
    left, right = below[2 * node], below[2 * node + 1]
    share = left / (left + right) if left + right > 0 else 1.0
    return [(2 * node, share), (2 * node + 1, 1.0 - share)]
