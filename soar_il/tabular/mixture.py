"""The mixture policy that Algorithm 2 returns."""

from dataclasses import dataclass

import numpy as np

from soar_il.tabular.mdp import Array, Mdp


@dataclass(frozen=True, eq=False)
class MixturePolicy:
    """pi-hat^K: a policy drawn uniformly from pi^1 .. pi^K at the start of each episode.

    Its occupancy measure is the mean of theirs. It is no Markov policy itself.
    """

    policies: Array  # [K, S, A]

    def occupancy(self, mdp: Mdp) -> Array:
        """d of the mixture, exactly."""
        return mdp.occupancy(self.policies).mean(axis=0)

    def initial_value(self, mdp: Mdp) -> float:
        """<nu_0, V> of the mixture, exactly."""
        return float(mdp.initial_value(self.policies).mean())

    def roll_out(self, mdp: Mdp, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """One episode of geometric length: the states s_1 .. s_L and actions a_1 .. a_L."""
        policy = self.policies[rng.integers(len(self.policies))]
        length = int(rng.geometric(1 - mdp.discount))
        states, actions = np.zeros(length, dtype=int), np.zeros(length, dtype=int)
        s = rng.choice(mdp.n_states, p=mdp.initial)
        for t in range(length):
            a = rng.choice(mdp.n_actions, p=policy[s] / policy[s].sum())
            states[t], actions[t] = s, a
            s = rng.choice(mdp.n_states, p=mdp.transitions[s, a])
        return states, actions
