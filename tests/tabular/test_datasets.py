from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from soar_il.tabular.datasets import Counts, Log, Rollouts
from soar_il.tabular.settings import Settings

S, A = 4, 3


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def random_rollouts(rng, lanes, longest=40):
    length = rng.integers(1, longest + 1, size=lanes)
    return Rollouts(
        jnp.asarray(rng.integers(S, size=(longest + 1, lanes)), jnp.int32),
        jnp.asarray(rng.integers(A, size=(longest, lanes)), jnp.int32),
        jnp.asarray(length, jnp.int32),
        jnp.int32(length.max()),
    )


def brute_force(settings, taus, value):
    """P_l V from plain counting of (l, s, a, s')."""
    visits, counts = Counter(), Counter()
    for tau in taus:
        for lane in range(settings.data_rollouts):
            kept = int(tau.length[lane]) - (0 if settings.last_transition else 1)
            for t in range(kept):
                s, a = int(tau.states[t, lane]), int(tau.actions[t, lane])
                visits[s, a] += 1
                routed = settings.routing == "trajectories"
                ell = lane if routed else visits[s, a] % settings.critics
                counts[ell, s, a, int(tau.states[t + 1, lane])] += 1
    result = np.zeros((settings.critics, S, A))
    for ell, s, a in np.ndindex(*result.shape):
        seen = np.array([counts[ell, s, a, p] for p in range(S)])
        if settings.kernel == "plus-two":
            result[ell, s, a] = seen @ value / (seen.sum() + 2)
        else:
            result[ell, s, a] = seen @ value / seen.sum() if seen.sum() else value.mean()
    return result


@pytest.mark.parametrize(
    "settings",
    [
        Settings(critics=1),
        Settings(critics=3),
        Settings(critics=7, last_transition=False),
        Settings(critics=3, kernel="uniform-prior"),
        Settings(critics=3, routing="trajectories", cost_trajectories=2, kernel="uniform-prior"),
    ],
)
def test_both_forms_agree_with_counting(settings):
    rng = np.random.default_rng(0)
    value = rng.uniform(0, 5, size=S)
    taus = [random_rollouts(rng, settings.rollouts) for _ in range(6)]
    wanted = brute_force(settings, taus, value)
    for datasets in (
        Counts(settings, S, A),
        Log(settings, S, A, capacity=6 * 40 * settings.rollouts),
    ):
        add = jax.jit(datasets.add)
        data = datasets.empty()
        for tau in taus:
            data = add(data, tau)
        np.testing.assert_allclose(
            datasets.next_values(data, jnp.asarray(value)), wanted, rtol=1e-12
        )
