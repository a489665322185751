"""Algorithm 2 and the released variant, transcribed: slow, obvious, fed the same random numbers.

Written from the paper's pseudocode; shares nothing with the package but the random streams.
"""

import functools

import jax
import numpy as np

from soar_il import rng
from soar_il.tabular.parts import BLOCK


@functools.partial(jax.jit, static_argnums=(1, 2))
def _uniforms(key, blocks, rollouts):
    first, second = jax.random.split(key)
    length = jax.random.uniform(first, (rollouts,))
    start = jax.random.uniform(jax.random.fold_in(second, 0), (rollouts,))
    steps = [
        jax.random.bits(jax.random.fold_in(second, b + 1), (BLOCK, rollouts), "uint64")
        for b in range(blocks)
    ]
    return length, start, jax.numpy.concatenate(steps)


def randomness(seed, k, gamma, rollouts=1):
    """Lengths, a uniform for each start, and for each step one for the action and the state."""
    blocks = 1 + int(40 / -np.log(gamma)) // BLOCK
    with jax.enable_x64(True):
        key = rng.at(np.uint32(seed), np.int32(k))("collect")
        length, start, bits = (np.asarray(x) for x in _uniforms(key, blocks, rollouts))
    lengths = [1 + int(np.floor(np.log1p(-u) / np.log(gamma))) for u in length]
    return lengths, start, (bits >> 32) / 2.0**32, (bits % 2**32) / 2.0**32


def pick(probabilities, uniform):
    total = 0.0
    for outcome, probability in enumerate(probabilities):
        total += probability
        if uniform < total:
            return outcome
    return len(probabilities) - 1


def tabular_soar(mdp, expert, iterations, seed, critics, eta, alpha, rule, scale, state_only):
    """Returns pi^k, c^k, Q^{k+1} and L^k for k = 1..K."""
    S, A, gamma, L = mdp.n_states, mdp.n_actions, mdp.discount, critics
    N = np.zeros((S, A), dtype=int)
    N_sa = np.zeros((L, S, A), dtype=int)
    N_sas = np.zeros((L, S, A, S), dtype=int)
    c = np.full((S, A), 0.5)
    pi = np.full((S, A), 1.0 / A)
    V = np.zeros(S)
    history = []
    for k in range(1, iterations + 1):
        lengths, u_start, u_action, u_state = randomness(seed, k, gamma)  # line 3
        s = pick(mdp.initial, u_start[0])
        for t in range(lengths[0]):  # line 4
            a = pick(pi[s], u_action[t, 0])
            successor = pick(mdp.transitions[s, a], u_state[t, 0])
            N[s, a] += 1  # line 5
            ell = N[s, a] % L  # line 6
            N_sa[ell, s, a] += 1  # lines 9-10, kept as the data come
            N_sas[ell, s, a, successor] += 1
            last = (s, a)
            s = successor
        c = cost_update(c, last, expert, alpha, state_only)  # line 7
        Q = np.zeros((S, A))
        for s in range(S):
            for a in range(A):
                estimates = []
                for ell in range(L):
                    P_hat = N_sas[ell, s, a] / (N_sa[ell, s, a] + 2)  # line 11
                    estimates.append(np.dot(P_hat, V))
                Q[s, a] = c[s, a] + gamma * combine(estimates, rule, scale)  # line 13
        history.append((pi.copy(), c.copy(), Q.copy(), lengths[0]))
        for s in range(S):
            weights = pi[s] * np.exp(-eta * Q[s])  # line 14
            pi[s] = weights / weights.sum()
            V[s] = np.dot(pi[s], Q[s])  # line 15
    return history


def cost_update(c, last, expert, alpha, state_only):
    d_learner = np.zeros_like(c)
    if state_only:
        d_learner[last[0], :] = 1.0
        d_expert = np.repeat(expert[:, None], c.shape[1], axis=1)
    else:
        d_learner[last] = 1.0
        d_expert = expert
    return np.minimum(np.maximum(c - alpha * (d_expert - d_learner), 0.0), 1.0)


def combine(estimates, rule, scale):
    if rule == "min":
        return min(estimates)
    mean = sum(estimates) / len(estimates)
    sigma = np.sqrt(sum((x - mean) ** 2 for x in estimates))
    return max(mean - scale * sigma, 0.0)


def released_soar(mdp, expert, iterations, seed, critics, eta, alpha, scale, cost_rollouts):
    """The notebook's variant, state-only: as docs/deviations.md lists it."""
    S, A, gamma, L = mdp.n_states, mdp.n_actions, mdp.discount, critics
    N_sas = np.zeros((L, S, A, S), dtype=int)
    c, pi, V = np.full(S, 0.5), np.full((S, A), 1.0 / A), np.zeros(S)
    history = []
    for k in range(1, iterations + 1):
        drawn = randomness(seed, k, gamma, L + cost_rollouts)
        lengths, u_start, u_action, u_state = drawn
        d_learner = np.zeros(S)
        for j in range(L + cost_rollouts):
            s = pick(mdp.initial, u_start[j])
            for t in range(lengths[j]):
                a = pick(pi[s], u_action[t, j])
                successor = pick(mdp.transitions[s, a], u_state[t, j])
                if j < L and t < lengths[j] - 1:
                    N_sas[j, s, a, successor] += 1
                last, s = s, successor
            if j >= L:
                d_learner[last] += 1 / cost_rollouts
        c = np.minimum(np.maximum(c - alpha * (expert - d_learner), 0.0), 1.0)
        Q = np.zeros((S, A))
        for s in range(S):
            for a in range(A):
                estimates = []
                for ell in range(L):
                    n = N_sas[ell, s, a].sum()
                    P_hat = N_sas[ell, s, a] / n if n > 0 else np.full(S, 1.0 / S)
                    estimates.append(np.dot(P_hat, V))
                bonus = scale * np.std(estimates)
                Q[s, a] = c[s] + gamma * (np.mean(estimates) - bonus)
        Q = np.clip(Q, 0.0, 1.0 / (1.0 - gamma))
        history.append((pi.copy(), c.copy(), Q.copy(), sum(lengths)))
        for s in range(S):
            V[s] = np.dot(pi[s], Q[s])
            weights = pi[s] * np.exp(-eta * Q[s])
            pi[s] = weights / weights.sum()
    return history
