"""Tabular SOAR-IL on an MDP of your own: run it, look at its regret, play what it learned."""

import numpy as np

from soar_il.tabular.expert import draw_expert
from soar_il.tabular.mdp import Mdp
from soar_il.tabular.mixture import MixturePolicy
from soar_il.tabular.regret import decompose
from soar_il.tabular.run import run
from soar_il.tabular.settings import Settings

# Three rooms in a row; action 1 tries to go right and succeeds in 4 of 5 cases.
transitions = np.zeros((3, 2, 3))
for room in range(3):
    transitions[room, 0, max(room - 1, 0)] = 1.0
    transitions[room, 1, min(room + 1, 2)] += 0.8
    transitions[room, 1, room] += 0.2
cost = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
mdp = Mdp(transitions, cost, initial=np.array([1.0, 0.0, 0.0]), discount=0.9, name="rooms")

# The expert plays optimally; we get to see 200 of its states and none of its actions.
expert_policy = mdp.optimal_policy()
expert = draw_expert(mdp, size=200, seed=0, state_only=True)

settings = Settings(critics=3, eta=0.5, alpha=0.05, rule="min")
trace = next(run(mdp, [expert], settings, iterations=1000, seeds=[0]))

print(f"expert   {mdp.initial_value(expert_policy):.3f}")
print(f"uniform  {mdp.initial_value(mdp.uniform_policy()):.3f}")
print(f"last     {mdp.initial_value(trace.policy[0, -1]):.3f}")
mixture = MixturePolicy(trace.policy[0])
print(f"mixture  {mixture.initial_value(mdp):.3f}")

regret = next(decompose(mdp, [trace], [expert], expert_policy))
for term in ("regret", "policy", "btrl", "optimism", "shift", "cost"):
    print(f"{term:9}{getattr(regret, term).sum() / (1 - mdp.discount):9.2f}")

states, actions = mixture.roll_out(mdp, np.random.default_rng(0))
print("an episode:", *(f"{s}{'<>'[a]}" for s, a in zip(states, actions, strict=True)))
