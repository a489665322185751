"""SMILING: the cost orders densities that are known, and stays within its bound."""

import jax
import jax.numpy as jnp
import numpy as np
import owed
import pytest
from scipy import stats

from soar_il.bases import BASES, smiling
from soar_il.engine import replay
from soar_il.errors import ConfigError
from soar_il.types import Spec, Treated

SPEC = Spec(2, 1)
LENGTH = 50


def data_of(states, steps=400):
    """A replay of these states, as episodes."""
    one = np.ones(LENGTH, np.float32)
    episodes = np.float32(states).reshape(-1, LENGTH + 1, SPEC.observation)
    still = np.zeros((LENGTH, SPEC.action), np.float32)
    treated = [Treated(s, still, one, one, one) for s in episodes]
    return replay.add(replay.empty(SPEC, 2048, 0), treated, steps)


def normal(seed, mean, deviation, n=20 * (LENGTH + 1)):
    return mean + deviation * np.random.default_rng(seed).normal(size=(n, SPEC.observation))


def fitted(expert, learner, rounds=3, **settings):
    base = owed.made("smiling", expert_steps=1500, hidden=(64,), batch=128, **settings)
    models = base.init(jax.random.key(0), SPEC, expert)
    update, seen = jax.jit(base.update), None
    for n in range(rounds):
        models, seen = update(models, expert, learner, jax.random.key(n))
    return base, models, seen


def costs(base, models, states):
    return np.asarray(base.cost(models, data_of(states).at(jnp.arange(len(states)))))


@pytest.fixture(scope="module")
def shifted():
    """The expert about (1, 0), the learner about (-1, 0), both with a deviation of one."""
    side = np.array([1.0, 0.0])
    expert, learner = data_of(normal(0, side, 1.0)), data_of(normal(1, -side, 1.0))
    return fitted(expert, learner, steps_per_step=1.5)


def test_it_orders_states_as_the_ratio_of_two_known_densities(shifted):
    """log expert / learner is 2 x for these; the dearer a state, the smaller it is."""
    base, models, seen = shifted
    rows = 2 * (LENGTH + 1)
    states = np.concatenate([normal(2, [1.0, 0.0], 1.0, rows), normal(3, [-1.0, 0.0], 1.0, rows)])
    found = costs(base, models, states[: 4 * (LENGTH + 1)])
    assert stats.spearmanr(found, -states[:, 0]).statistic > 0.8
    assert float(seen["cost_gap"]) > 0.5


def test_where_the_expert_is_surer_is_cheaper_than_where_the_learner_strays():
    expert, learner = data_of(normal(0, 0.0, 0.3)), data_of(normal(1, 0.0, 1.5))
    base, models, _ = fitted(expert, learner, steps_per_step=1.5)
    near, far = normal(2, 0.0, 0.2, LENGTH + 1), normal(2, 0.0, 0.2, LENGTH + 1) + 2.0
    assert np.max(costs(base, models, near)) < np.min(costs(base, models, far))


def test_no_state_costs_more_or_less_than_the_bound_however_strange(shifted):
    base, models, _ = shifted
    strange = costs(base, models, normal(4, 0.0, 1e3, LENGTH + 1))
    assert np.all(np.abs(strange) <= 3.0)
    assert base.least_cost == -3.0


def test_a_few_strange_states_leave_the_scale_as_it_is():
    """As absorbing states are, which the expert's network has not seen."""
    states, expert = normal(1, -1.0, 1.0), data_of(normal(0, 1.0, 1.0))
    mixed = states.copy()
    mixed[::10] = 30.0
    scales = [float(fitted(expert, data_of(x), rounds=1)[1].scale) for x in (states, mixed)]
    assert scales[1] < 3 * scales[0]


def test_every_state_is_judged_at_every_amount_of_noise(shifted):
    """By hand: the mean over amounts, spread evenly over the diffusion, of two squared errors."""
    base, models, _ = shifted
    states = np.float32(normal(5, 0.0, 1.0, LENGTH + 1))
    total = np.zeros(len(states))
    for n, noise in enumerate(np.asarray(models.noise)):
        moments = np.full(len(states), (n + 0.5) / 10, np.float32)
        for sign, layers in ((1, models.expert), (-1, models.learner.layers)):
            total += sign * np.asarray(smiling.errors(layers, states, moments, noise))
    raw = (total / 10 - float(models.centre)) / float(models.scale)
    np.testing.assert_allclose(
        costs(base, models, states), 3 * np.tanh(raw / 3), rtol=1e-3, atol=1e-4
    )


def test_the_diffusion_begins_at_the_state_and_ends_in_noise():
    """A network that guesses 0 errs by the noise alone; one can see what was put in."""
    seen = []

    def spy(layers, x, activation):
        seen.append(np.asarray(x[..., :2]))
        return jnp.zeros_like(x[..., :2])

    state, noise = np.float32([[2.0, -1.0]]), np.float32([[0.5, 0.25]])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(smiling.mlp, "apply", spy)
        for moment in (1e-6, 1.0):
            error = smiling.errors((), state, np.float32([moment]), noise)
            np.testing.assert_allclose(error, 0.5**2 + 0.25**2, rtol=1e-6)
    np.testing.assert_allclose(seen[0], state, atol=1e-2)
    np.testing.assert_allclose(seen[1], noise, atol=2e-2)


def test_only_the_learner_s_model_learns_and_its_noise_is_drawn_anew(shifted):
    base, models, _ = shifted
    expert, learner = data_of(normal(0, 1.0, 1.0)), data_of(normal(1, -1.0, 1.0))
    after, _ = base.update(models, expert, learner, jax.random.key(9))
    assert owed.same(models.expert, after.expert)
    assert not owed.same(models.learner.layers, after.learner.layers)
    assert not np.array_equal(models.noise, after.noise)


@pytest.mark.parametrize(
    "wrong", [{"times": 0}, {"rate": 0.0}, {"spread": 0.0}, {"bound": -1.0}, {"expert_steps": 0}]
)
def test_its_settings_are_checked(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        BASES["smiling"].settings(**wrong)


@pytest.mark.parametrize("critics", [1, 4])
def test_a_run_trains_and_goes_on_exactly(critics, tmp_path):
    whole, resumed, half, seen = owed.straight_and_resumed(
        tmp_path, base="smiling", critics=critics
    )
    assert whole == resumed != half
    assert all(np.isfinite(float(x)) for now in seen for x in now.values())
