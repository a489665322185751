"""What GAIL, DAC and GAIfO share: the logit, the reward that it is worth, and its slope."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny

from soar_il import Demos, configure
from soar_il.bases import BASES, discriminator, spectral
from soar_il.bases.given import Given
from soar_il.build import method_of
from soar_il.engine import replay
from soar_il.errors import ConfigError, DemoError
from soar_il.types import Batch, Spec, Treated

GIVEN = Given(horizon=40, fresh=2048, hidden=(16,))
LINE = Spec(1, 1)
CLASSIFIERS = ["dac", "gaifo", "gail"]
FORMS = {  # of D, as the papers write them
    "logit": lambda d: np.log(d) - np.log(1 - d),
    "log-d": np.log,
    "minus-log-not-d": lambda d: -np.log(1 - d),
}


def gaussian(centre, seed, n=4000):
    """States about ``centre`` and actions about minus it, with deviation one."""
    rng = np.random.default_rng(seed)
    states = rng.normal(centre, 1.0, (n + 1, 1)).astype(np.float32)
    actions = rng.normal(-centre, 1.0, (n, 1)).astype(np.float32)
    one = np.ones(n, np.float32)
    treated = [Treated(states, actions, one, one, one)]
    return replay.add(replay.empty(LINE, 8192, 0), treated, n)


def fitted(name, expert, learner, rounds=1, spec=LINE, **settings):
    base = made(name, **settings)
    cost, update = base.init(jax.random.key(0), spec, expert), jax.jit(base.update)
    for n in range(rounds):
        cost, seen = update(cost, expert, learner, jax.random.key(n))
    return base, cost, seen


def made(name, **settings):
    small = {"discount": 1.0, "hidden": (32, 32), "steps_per_step": 0.05, "learning_rate": 3e-3}
    return BASES[name].make(BASES[name].settings(**{**small, **settings}), GIVEN)


def rows(x, spec=LINE):
    """Transitions with these states, actions and next states, [n, 3]."""
    x = jnp.asarray(x, jnp.float32)
    one = jnp.ones(len(x))
    return Batch(
        x[:, :1], x[:, 1:2], x[:, 2:], one, one, jnp.zeros(len(x), bool), jnp.int32(0 * one)
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_best_logit_of_two_known_gaussians_is_their_log_density_ratio(name):
    """Expert about (1/2, -1/2), learner about (-1/2, 1/2): the ratio's logarithm is linear."""
    free = {"smooth": "none", "recent": 0, "batch": 400, "steps_per_step": 0.3}
    base, cost, _ = fitted(name, gaussian(0.5, 1), gaussian(-0.5, 2), **free)
    at = np.stack(np.meshgrid(*[np.linspace(-1, 1, 5)] * 3), axis=-1).reshape(-1, 3)
    ours = -np.asarray(base.cost(cost, rows(at)))
    known = at[:, 0] + at[:, 2] if name == "gaifo" else at[:, 0] - at[:, 1]
    assert np.max(np.abs(ours - known)) < 0.35
    assert np.sqrt(np.mean((ours - known) ** 2)) < 0.15


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_costs_are_a_form_of_d_turned_round_and_bounded(name, form):
    expert, learner = gaussian(3.0, 1), gaussian(-3.0, 2)
    base, cost, seen = fitted(name, expert, learner, form=form)
    logits = made(name, form="logit")
    at = rows(np.random.default_rng(0).normal(0, 20, (200, 3)))
    d = 1 / (1 + np.exp(np.asarray(logits.cost(cost, at), np.float64)))
    np.testing.assert_allclose(base.cost(cost, at), -FORMS[form](d), atol=1e-3)
    bounds = {"logit": (-10, 10), "log-d": (0, 10.001), "minus-log-not-d": (-10.001, 0)}
    low, high = bounds[form]
    assert low <= np.min(base.cost(cost, at))
    assert np.max(base.cost(cost, at)) <= high
    assert base.least_cost == pytest.approx(low, abs=1e-3)
    assert np.min(base.cost(cost, at)) >= base.least_cost
    assert seen["cost_gap"] > 0


def test_spectral_normalisation_makes_every_layer_s_largest_singular_value_one():
    expert, learner = gaussian(3.0, 1), gaussian(-3.0, 2)
    base, cost, _ = fitted("gail", expert, learner, smooth="spectral")
    for w, _ in spectral.normed(cost.fit.layers, cost.vectors):
        assert np.linalg.norm(np.asarray(w), 2) == pytest.approx(1.0, abs=0.02)
    plain, steep, _ = fitted("gail", expert, learner, smooth="none")

    def slope(base, cost):
        at = jnp.asarray(np.random.default_rng(0).normal(0, 2, (100, 3)))
        gradient = jax.grad(lambda x: jnp.sum(base.cost(cost, rows(x))))(at)
        return np.max(np.linalg.norm(gradient, axis=1))

    assert slope(base, cost) < 1.02 < slope(plain, steep)


def test_a_penalty_holds_the_slope_where_it_is_meant_to_be():
    expert, learner = gaussian(2.0, 1), gaussian(-2.0, 2)

    def slope(meant):
        more = {"gradient_penalty": 30.0, "slope": meant}
        base, cost, _ = fitted("gail", expert, learner, **more)
        gradient = jax.grad(lambda x: base.cost(cost, rows(x))[0])(jnp.zeros((1, 3)))
        return float(np.linalg.norm(gradient))

    assert slope(0.0) < 0.2
    assert slope(1.0) == pytest.approx(1.0, abs=0.2)


def test_a_penalty_grows_with_the_square_of_the_coordinates_but_for_dac_s():
    """(s, a) has two: one weight is to fit Hopper's 15 and Humanoid's 366."""
    both = gaussian(1.0, 1), gaussian(-1.0, 2)
    for name, weight in (("gail", 12.0), ("dac", 3.0)):
        own = fitted(name, *both, gradient_penalty=3.0)
        said = fitted(name, *both, gradient_penalty=weight, by_size=False)
        at = rows(np.eye(3))
        np.testing.assert_array_equal(own[0].cost(own[1], at), said[0].cost(said[1], at))


def test_a_row_of_the_absorbing_state_counts_for_its_steps_or_for_one():
    """A fifth of the learner's rows is absorbing and stands for 100 steps each."""
    spec = Spec(2, 1, absorbing=True)

    def held(ends, n=200):
        treated = []
        for _ in range(n):
            states = np.zeros((6, 2), np.float32)
            states[4:, 1] = 10.0 if ends else 0.0
            one, weights = np.ones(5, np.float32), np.ones(5, np.float32)
            weights[-1] = 100.0 if ends else 1.0
            treated.append(Treated(states, np.zeros((5, 1), np.float32), one, weights, weights))
        return replay.add(replay.empty(spec, 8192, 0), treated, 5 * n)

    logits = {}
    for count in ("steps", "rows"):
        free = {"smooth": "none", "recent": 0, "steps_per_step": 0.3, "count": count}
        base, cost, _ = fitted("gail", held(False), held(True), spec=spec, **free)
        logits[count] = -float(base.cost(cost, held(False).draw(jax.random.key(0), 1))[0])
    assert logits["rows"] == pytest.approx(np.log(5 / 4), abs=0.3)  # four of five rows
    assert logits["steps"] == pytest.approx(np.log(104 / 4), abs=0.7)  # four of 104 steps


def test_dac_asks_for_the_absorbing_state():
    with pytest.raises(ConfigError, match="absorbing"):
        tiny.imitator(base="dac", termination="early")
    cfg = configure.resolve("dac", "Hopper-v5")
    assert method_of(cfg, 1000, None).needs.absorbing


@pytest.mark.parametrize("name", ["gail", "dac", "airl"])
def test_without_actions_it_is_refused(name):
    shown = tiny.demos()
    with pytest.raises(DemoError, match="actions"):
        tiny.imitator(base=name, demos=Demos(shown.observations, None, shown.terminated))


def test_a_penalty_that_is_not_read_may_not_be_given():
    with pytest.raises(ConfigError, match="smooth = penalty"):
        discriminator.Settings(smooth="spectral", gradient_penalty=2.0)
