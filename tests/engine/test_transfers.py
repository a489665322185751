"""Lines 6-11 stay on the device: no host round trip in the hot path, however many updates."""

import jax
import numpy as np
import pytest
import tiny

from soar_il import rng
from soar_il.engine.loop import compiled_improve, compiled_update


@pytest.fixture(scope="module")
def begun():
    """A run with some data: its kit's compiled calls, and what they are given."""
    with tiny.imitator(critics=2) as imitator:
        imitator.learn(60)
        run = imitator._run
        state, expert = run.state, run.parts.expert
        key = rng.at(0, int(state.k))
        yield run, state, expert, key


def calls(run, state, expert, key):
    """The two calls of an iteration, as ``soar_il/engine/parts.py`` makes them."""
    from soar_il.build import method_of
    from soar_il.learners import LEARNERS

    cfg, built = run.cfg, run.built
    algorithm, base = LEARNERS[cfg.algorithm], method_of(cfg, built.env.horizon, None)
    many = compiled_improve(algorithm, base, built.spec, cfg.learner)
    fit = compiled_update(base, built.spec)
    policy, layers = state.policy.policy, algorithm.acting(state.policy.policy)
    return (
        (fit, (state.cost, expert, state.data, layers, key("cost"))),
        (many, (state.critics, policy, state.cost, state.data, None, key)),
    )


def primitives(jaxpr):
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for value in jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda x: hasattr(x, "eqns")
        ):
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from primitives(inner)


def test_nothing_comes_from_the_host_while_it_learns(begun):
    for compiled, given in calls(*begun):
        compiled(*given)  # compiled, with its constants where they belong
        with jax.transfer_guard("disallow"):
            jax.block_until_ready(compiled(*given))


def test_the_guard_would_see_an_array_of_the_host(begun):
    (fit, given), _ = calls(*begun)
    with jax.transfer_guard("disallow"), pytest.raises(Exception, match="host-to-device"):
        fit(*jax.tree.map(np.asarray, given[:3]), *given[3:])


def test_no_update_calls_back_into_python(begun):
    for compiled, given in calls(*begun):
        names = set(primitives(jax.make_jaxpr(compiled)(*given).jaxpr))
        assert "while" in names, "the updates are not where they were looked for"
        assert not {name for name in names if "callback" in name or "feed" in name}


def test_more_updates_make_no_more_transfers(monkeypatch):
    """Counted on the way out: metrics and flags, once an iteration."""
    counts = []
    for often in (1.0, 3.0):
        with tiny.imitator(critics=2, learner={"updates_per_step": often}) as imitator:
            imitator.learn(1)
            fetched, real = [], jax.device_get

            def counted(tree, real=real, fetched=fetched):
                fetched.append(1)
                return real(tree)

            with monkeypatch.context() as patched:
                patched.setattr(jax, "device_get", counted)
                imitator.learn(1)
            counts.append(len(fetched))
    assert counts[0] == counts[1]
    assert 0 < counts[0] <= 8  # two guards, metrics, a policy, a checkpoint
