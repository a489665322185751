"""What every base method owes the engine; a new line in the table is tested at once."""

import dataclasses
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import soak
import tiny
from known import double

from soar_il import arrays, config
from soar_il.bases import BASES, cloning, csil_plain
from soar_il.bases.given import Given
from soar_il.build import method_of
from soar_il.configure import resolve
from soar_il.engine import replay
from soar_il.errors import ConfigError
from soar_il.networks import gaussian
from soar_il.types import Batch, Spec, Treated

SPEC = Spec(observation=3, action=2, absorbing=False)
PRESETS = [(base, preset) for base in tiny.EVERY_BASE for preset in ("tuned", "paper")]
SMALL = {"hidden": (16, 16), "batch": 64, "critic_steps": 5, "centres": 16}
SMALL |= {"ratio_steps": 5, "ratio_batch": 64, "width": 16}
SMALL |= {"expert_steps": 300}
ML_IRL = ["ml-irl", "ml-irl-sa"]
every = pytest.mark.parametrize(("name", "preset"), PRESETS)


@lru_cache(maxsize=64)  # what is equal gives one object, and so one compiled update
def made(name, preset="tuned", **changes):
    """The method with a preset's own cost settings, small networks."""
    entry = BASES[name]
    mapping = config.preset_mapping(entry.presets or name, preset).get("cost", {})
    settings = config.from_mapping(entry.settings, mapping, f"{name}/{preset}")
    changes = {**SMALL, **changes}
    given = Given(horizon=64, fresh=2048, hidden=changes["hidden"])
    fields = {f.name for f in dataclasses.fields(settings)} - unread(settings)
    changes = {key: value for key, value in changes.items() if key in fields}
    if isinstance(settings, cloning.Settings):
        changes.setdefault("steps", 200)
    return entry.make(dataclasses.replace(settings, **changes), given)


def unread(settings):
    """Of the settings that tests make small, those that another one switches off."""
    if getattr(settings, "data", "") == "fresh":
        return {"batch"}
    if isinstance(settings, csil_plain.Settings):
        return {"hidden"} if settings.anchored else {"critic_steps"}
    return set()


def trajectories(rng, centre, push, n=8, length=40):
    """Wanderings about ``centre`` with actions about ``push``, none of them at a bound.

    There a squashed density has no limit: one such pair that is held out would stop a clone early.
    """
    for _ in range(n):
        states = centre + 0.5 * rng.normal(size=(length + 1, SPEC.observation))
        actions = np.clip(push + 0.2 * rng.normal(size=(length, SPEC.action)), -0.95, 0.95)
        one = np.ones(length, np.float32)
        occupancy = (0.99 ** np.arange(length)).astype(np.float32)
        yield Treated(states.astype(np.float32), actions.astype(np.float32), one, one, occupancy)


def data_of(rng, centre, push, steps=320):
    return replay.add(replay.empty(SPEC, 1024, 0), list(trajectories(rng, centre, push)), steps)


@pytest.fixture(scope="module")
def expert():
    return data_of(np.random.default_rng(0), centre=1.0, push=0.5)


@pytest.fixture(scope="module")
def learner():
    return data_of(np.random.default_rng(1), centre=-1.0, push=-0.5)


def leaves(tree):
    return [np.array(x) for x in jax.tree.leaves(tree)]


def same(a, b):
    return all(
        np.array_equal(x, y, equal_nan=True) for x, y in zip(leaves(a), leaves(b), strict=True)
    )


def update_of(base):
    """UpdateCost, with log pi of some policy where the method needs it."""
    if not base.needs.log_pi:
        return base.update
    layers = gaussian.init(jax.random.key(7), SPEC, (16,))
    return lambda *given: base.update(*given, partial(gaussian.log_prob, layers))


@lru_cache(maxsize=64)
def compiled(base):
    """Line 1 and UpdateCost of a method: all tests of it share the programs."""
    return jax.jit(base.init, static_argnums=1), jax.jit(update_of(base)), jax.jit(base.cost)


def charged(base, cost, batch):
    """c(s, a) of a batch, by the compiled program."""
    return np.asarray(compiled(base)[2](cost, batch))


def by_source(name):
    """Whether a row's cost follows from whose it is, not from what is in it."""
    return made(name).needs.expert_rows


LEARNED = [(name, preset) for name, preset in PRESETS if not by_source(name)]
learned = pytest.mark.parametrize(("name", "preset"), LEARNED)


def fitted(base, expert, learner, rounds=1, seed=0):
    key = jax.random.key(seed)
    init, update, _ = compiled(base)
    cost = init(key, SPEC, expert)
    for n in range(rounds):
        cost, seen = update(cost, expert, learner, jax.random.fold_in(key, n))
    return cost, seen


@every
def test_an_update_is_pure(name, preset, expert, learner):
    init, update, _ = compiled(made(name, preset))
    cost = init(jax.random.key(0), SPEC, expert)
    before = leaves((cost, expert, learner))
    update(cost, expert, learner, jax.random.key(1))
    assert same(before, leaves((cost, expert, learner)))


@every
def test_the_key_decides_everything(name, preset, expert, learner):
    base = made(name, preset)
    once, again = (fitted(base, expert, learner, 2) for _ in range(2))
    assert same(once, again)


@every
def test_costs_are_finite_and_one_a_transition(name, preset, expert, learner):
    base = made(name, preset)
    cost, seen = fitted(base, expert, learner)
    assert all(np.isfinite(x).all() for x in leaves((cost, seen)))
    for batch, shape in (
        (learner.draw(jax.random.key(2), 32), (32,)),
        (learner.draw_each(jax.random.key(2), 16, 3), (3, 16)),
    ):
        values = charged(base, cost, batch)
        assert values.shape == shape
        assert np.isfinite(values).all()


@every
def test_the_cost_of_a_transition_does_not_depend_on_the_others(name, preset, expert, learner):
    base = made(name, preset)
    cost, _ = fitted(base, expert, learner)
    batch = learner.draw(jax.random.key(2), 32)
    order = np.random.default_rng(0).permutation(32)
    shuffled = Batch(*(np.asarray(x)[order] for x in batch))
    alone = charged(base, cost, shuffled)
    np.testing.assert_array_equal(alone, charged(base, cost, batch)[order])


@every
def test_what_a_method_says_it_does_not_need_it_does_not_read(name, preset, expert, learner):
    base = made(name, preset)
    if base.needs.actions:
        pytest.skip("needs the expert's actions")
    blind = expert._replace(actions=jnp.full_like(expert.actions, jnp.nan))
    assert same(fitted(base, expert, learner, 2), fitted(base, blind, learner, 2))


@pytest.mark.parametrize("name", [n for n in tiny.EVERY_BASE if not made(n).needs.actions])
def test_a_state_only_cost_ignores_actions_bitwise(name, expert, learner):
    base = made(name)
    cost, _ = fitted(base, expert, learner)
    batch = learner.draw(jax.random.key(2), 32)
    without = batch._replace(actions=jnp.full_like(batch.actions, jnp.nan))
    np.testing.assert_array_equal(charged(base, cost, batch), charged(base, cost, without))


@pytest.mark.parametrize("name", [n for n, p in LEARNED if p == "tuned" and made(n).needs.actions])
def test_a_state_action_cost_reads_actions(name, learner):
    rng = np.random.default_rng(0)
    base = made(name, steps_per_step=3.0, learning_rate=3e-3, inputs="pairs")
    expert = data_of(rng, centre=-1.0, push=0.5)
    cost, _ = fitted(base, expert, learner)
    theirs, ours = (d.draw(jax.random.key(2), 200) for d in (expert, learner))
    swapped = ours._replace(actions=theirs.actions)
    assert np.mean(charged(base, cost, swapped)) < np.mean(charged(base, cost, ours))


@learned
def test_the_expert_becomes_cheaper_than_the_learner(name, preset, expert, learner):
    """On data that differ, over 10 seeds: never the wrong way round."""
    base = made(name, preset, learning_rate=1e-3)
    rounds = 2 if preset == "tuned" else 60
    for seed in range(10):
        cost, seen = fitted(base, expert, learner, rounds, seed)
        theirs, ours = (d.draw(jax.random.key(3), 200) for d in (expert, learner))
        assert np.mean(charged(base, cost, theirs)) < np.mean(charged(base, cost, ours))
        assert seen["cost_gap"] > 0


@learned
def test_swapping_expert_and_learner_turns_the_cost_round(name, preset, expert, learner):
    base = made(name, preset, learning_rate=1e-3)
    rounds = 2 if preset == "tuned" else 60
    cost, _ = fitted(base, learner, expert, rounds)
    theirs, ours = (d.draw(jax.random.key(3), 200) for d in (expert, learner))
    assert np.mean(charged(base, cost, theirs)) > np.mean(charged(base, cost, ours))


@pytest.mark.parametrize("name", ["ml-irl", "ml-irl-sa", "rkl", "gail", "gaifo"])
def test_a_method_compares_the_occupancies_of_its_discount(name):
    """They differ in their first step alone: the more that weighs, the larger the gap."""
    start = np.zeros((11, SPEC.observation), np.float32)
    start[0] = 2.0
    one = np.ones(10, np.float32)
    still = np.zeros((10, SPEC.action), np.float32)
    both = [
        replay.add(replay.empty(SPEC, 2048, 0), [Treated(s, still, one, one, one)] * 20, 200)
        for s in (np.zeros_like(start), start)
    ]
    free = {"gradient_penalty": 0.0, "ratio_penalty": 0.0}
    seen, alike = (
        fitted(made(name, discount=discount, **free), *both, rounds=5)[1] for discount in (0.3, 1.0)
    )
    assert seen["cost_gap"] > 2 * alike["cost_gap"] > 0
    if "ratio_loss" in seen:
        assert seen["ratio_loss"] < alike["ratio_loss"] - 0.1


@pytest.mark.parametrize("name", ML_IRL)
@pytest.mark.parametrize("discount", [0.9, 1.0])
def test_half_of_what_ml_irl_compares_is_recent(name, discount):
    """The newest trajectory is the expert's, all before it are not."""
    one, still = np.ones(10, np.float32), np.zeros((10, SPEC.action), np.float32)

    def held(*centres):
        states = [np.full((11, SPEC.observation), x, np.float32) for x in centres]
        treated = [Treated(s, still, one, one, one) for s in states]
        return replay.add(replay.empty(SPEC, 2048, 0), treated, 200)

    both = held(*[0.0] * 20), held(*[2.0] * 99, 0.0)
    gaps = [
        fitted(made(name, discount=discount, recent=recent), *both, rounds=5)[1]["cost_gap"]
        for recent in (0, 10)
    ]
    assert 0 < gaps[1] < 0.7 * gaps[0]


@pytest.mark.parametrize("name", [*ML_IRL, "rkl"])
def test_the_expert_s_actions_are_asked_for_or_inferred(name):
    def method(share):
        return method_of(resolve(name, "Point-v0", learner={"expert_share": share}), 40, None)

    for share in (0.0, 0.25):
        made = method(share)
        assert made.needs.actions == (name == "ml-irl-sa")
        assert (made.infer_actions is not None) == (share > 0 and not made.needs.actions)
    with pytest.raises(ConfigError, match="expert_share"):
        method(1.0)


@pytest.mark.parametrize(
    ("name", "preset"),
    [
        *(p for p in PRESETS if p[1] == "tuned"),
        *(soak.param(*p) for p in soak.some([p for p in PRESETS if p[1] == "paper"])),
    ],
)
def test_compiled_and_not_compiled_agree(name, preset, expert, learner):
    base = made(name, preset, steps_per_step=0.0, steps=1, batch=8, hidden=(4,))
    cost = base.init(jax.random.key(0), SPEC, expert)
    plain = update_of(base)(cost, expert, learner, jax.random.key(1))[0]
    with jax.disable_jit():
        slow = update_of(base)(cost, expert, learner, jax.random.key(1))[0]
    for a, b in zip(leaves(plain), leaves(slow), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-6, rtol=1e-4)


@every
def test_a_cost_survives_storage(name, preset, expert, learner):
    base = made(name, preset)
    cost, _ = fitted(base, expert, learner)
    flat, tree = jax.tree.flatten(cost)
    stored = arrays.unpack(arrays.pack({f"{n:03d}": np.asarray(x) for n, x in enumerate(flat)}))
    back = jax.tree.unflatten(tree, [stored[f"{n:03d}"] for n in range(len(flat))])
    batch = learner.draw(jax.random.key(2), 32)
    np.testing.assert_array_equal(charged(base, back, batch), charged(base, cost, batch))
    assert [x.dtype for x in leaves(back)] == [x.dtype for x in leaves(cost)]


@every
def test_the_cost_s_gradient_is_that_of_finite_differences(name, preset, expert, learner):
    """In float64, through the cost itself, by twenty random directions in its weights."""
    base = made(name, preset)
    with jax.enable_x64(True):
        cost = jax.tree.map(
            lambda x: jnp.asarray(np.asarray(x), np.float64) if x.dtype == np.float32 else x,
            base.init(jax.random.key(0), SPEC, expert),
        )
        batch = jax.tree.map(jnp.asarray, double(learner.draw(jax.random.key(2), 8)))
        weights, rest = jax.tree.flatten(cost)
        floats = [n for n, x in enumerate(weights) if x.dtype == np.float64]

        def value(moved):
            filled = list(weights)
            for n, x in zip(floats, moved, strict=True):
                filled[n] = x
            return jnp.sum(base.cost(jax.tree.unflatten(rest, filled), batch))

        at = [weights[n] for n in floats]
        gradient, value = jax.jit(jax.grad(value))(at), jax.jit(value)
        rng = np.random.default_rng(0)
        for _ in range(20):
            direction = [rng.normal(size=x.shape) for x in at]
            step = 1e-6
            ahead, behind = (
                value([x + sign * step * d for x, d in zip(at, direction, strict=True)])
                for sign in (1, -1)
            )
            slope = sum(float(jnp.sum(g * d)) for g, d in zip(gradient, direction, strict=True))
            assert float(ahead - behind) / (2 * step) == pytest.approx(slope, rel=1e-6, abs=1e-7)
