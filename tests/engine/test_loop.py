"""How often lines 7-11 are done, with which cost, and that no state with a NaN is handed on."""

import jax
import numpy as np
import pytest
from known import episode, first_state, learned, replay_of, same, settings

from soar_il.engine import replay
from soar_il.errors import NonFiniteError


def test_old_transitions_are_charged_the_current_cost():
    s, data = settings(), replay_of([10, 20], 2)
    state = first_state(s)
    old, _ = learned(s, data, state)
    new, _ = learned(s, data, state._replace(cost=np.float32(2.0)))
    raised, _ = learned(s, data, state, update_cost=lambda *_: (np.float32(2.0), {}))
    assert not same(old.critics, new.critics)
    assert same(new.critics, raised.critics)


@pytest.mark.parametrize(
    ("s", "tables", "updates"),
    [(settings(), 2, 10), (settings(split="minibatches", updates_per_step=0.5), 0, 5)],
)
def test_there_are_updates_per_step_times_new_steps_updates(s, tables, updates):
    data = replay.add(replay_of([1, 2, 3, 4], tables, steps=100), [episode(5)], 10)
    after, _ = learned(s, data)
    assert int(after.policy.updates) == int(after.critics.optimiser[0].count) == updates
    again, _ = learned(s, data, after)
    assert int(again.policy.updates) == 2 * updates


def test_no_new_steps_change_nothing():
    state = first_state(settings())
    after, seen = learned(settings(), replay_of([1, 2], 2, steps=0), state)
    assert same((after.critics, after.policy), (state.critics, state.policy))
    assert all(np.isfinite(float(x)) for x in seen.values())


def spoilt(tree, path):
    leaves, treedef = jax.tree_util.tree_flatten_with_path(tree)
    named = {jax.tree_util.keystr(x, simple=True, separator="."): leaf for x, leaf in leaves}
    named[path] = np.full(named[path].shape, np.nan, np.float32)
    return jax.tree_util.tree_unflatten(treedef, named.values())


@pytest.mark.parametrize("updates", [1, 3])
@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("critics.layers.1.0", r"critics\.layers\.1\.0"),
        ("critics.targets.1.1", r"critics\.layers"),
        ("critics.optimiser.0.nu.1.0", r"critics\.layers\.1\.0"),
        ("policy.policy.layers.0.1", r"critics\.layers"),
        ("policy.policy.optimiser.0.nu.0.0", r"(policy|critics)\.layers"),
        ("policy.policy.log_alpha", r"critics\.layers"),
        ("cost", "cost"),
        ("data.observations", r"critics\.layers"),
    ],
)
def test_what_is_not_a_number_is_named_and_never_handed_on(path, named, updates):
    state = first_state(settings())._replace(data=replay_of([1, 2], 2, steps=updates))
    state = spoilt(state, path)
    kept = jax.tree.map(np.array, (state.critics, state.policy, state.cost))
    with pytest.raises(NonFiniteError, match=rf"no longer finite: .*{named}.*\n.*what to do"):
        learned(settings(), state.data, state)
    assert same((state.critics, state.policy, state.cost), kept)


def test_a_cost_that_overflows_is_never_handed_on():
    state = first_state(settings())._replace(cost=np.float32(1e30))
    with pytest.raises(NonFiniteError, match="no longer finite"):
        learned(settings(), replay_of([1, 2], 2), state)
