"""The expert's actions where only its states are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny
from known import KNOWN, normals

from soar_il import Demos
from soar_il.bases.inverse import inferring
from soar_il.engine import replay
from soar_il.engine.loop import compiled_actions
from soar_il.types import Spec, Treated

SPEC = Spec(4, 2, absorbing=True)
PUSH = np.float32([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6]])


def moved(seed, gain, ends=False, steps=60):
    """s' = 0.9 s + a PUSH, actions about gain s; it may end in the absorbing state."""
    noise = normals(seed, (steps, 2))
    s, actions = [normals(seed + 1, 3)], []
    for n in range(steps):
        actions.append(np.tanh(s[-1] @ gain + 0.5 * noise[n]))
        s.append(np.float32(0.9) * s[-1] + actions[-1] @ PUSH)
    states = np.concatenate([s, np.zeros((steps + 1, 1))], axis=1)
    if ends:
        states[-2:], actions[-1] = (0, 0, 0, 10), np.zeros(2)
    one = np.ones(steps, np.float32)
    return Treated(states.astype(np.float32), np.float32(actions), one, one, one)


def stored(*treated):
    return replay.add(replay.empty(SPEC, 4096, 0), list(treated), 100)


OURS = normals(1, (3, 2))
THEIRS = -OURS


@pytest.fixture(scope="module")
def fitted():
    base = inferring(KNOWN, (64, 64), steps_per_step=30.0)
    expert = stored(*(moved(n, THEIRS, ends=True) for n in range(100, 104)))
    hidden = expert._replace(actions=jnp.full_like(expert.actions, jnp.nan))
    data = stored(*(moved(n, OURS) for n in range(40)))
    cost = base.init(jax.random.key(0), SPEC, hidden)
    cost, seen = jax.jit(base.update)(cost, hidden, data, jax.random.key(1))
    return base, cost, seen, expert, hidden


def test_what_the_expert_did_is_inferred_from_what_the_learner_saw(fitted):
    base, cost, seen, expert, hidden = fitted
    assert float(seen["inverse_error"]) < 0.02
    told = compiled_actions(base, SPEC)(cost, hidden)
    rows = np.asarray(expert.tables[0, : int(expert.alive[0])])
    last = np.asarray(expert.step)[rows] >= 58
    error = np.asarray(told.actions - expert.actions)[rows][~last]
    assert np.sqrt((error**2).mean()) < 0.1
    assert np.asarray(expert.actions)[rows].std() > 0.5


def test_the_absorbing_state_keeps_its_one_action(fitted):
    base, cost, _, _, hidden = fitted
    told = compiled_actions(base, SPEC)(cost, hidden)
    dead = np.asarray(hidden.observations)[:, -1] != 0
    assert dead.any()
    np.testing.assert_array_equal(np.asarray(told.actions)[dead], 0)


def test_the_method_itself_and_all_but_the_actions_are_as_before(fitted):
    base, cost, _, _, hidden = fitted
    assert base.needs == KNOWN.needs
    assert [w.shape for w, _ in cost.model.layers] == [(8, 64), (64, 64), (64, 2)]
    batch = hidden.draw(jax.random.key(2), 9)._replace(actions=jnp.ones((9, 2)))
    np.testing.assert_array_equal(base.cost(cost, batch), KNOWN.cost(cost.cost, batch))
    told = compiled_actions(base, SPEC)(cost, hidden)
    jax.tree.map(np.testing.assert_array_equal, told._replace(actions=hidden.actions), hidden)
    assert compiled_actions(KNOWN, SPEC)(cost, hidden) is hidden


def test_a_step_is_measured_on_what_the_expert_showed_and_no_more():
    base = inferring(KNOWN, (8,), steps_per_step=0.0)
    shown = moved(7, THEIRS, steps=12)
    cost = base.init(jax.random.key(0), SPEC, stored(shown))
    steps = np.diff(shown.observations, axis=0)[:, :3].std(axis=0)
    np.testing.assert_allclose(cost.scale, [*steps, 1.0], rtol=1e-5)


def test_shown_actions_are_not_looked_at():
    shown = tiny.demos()
    unseen = Demos(shown.observations, None, shown.terminated)
    share = {"expert_share": 0.3}
    agents = [tiny.imitator(demos=demos, learner=share) for demos in (shown, unseen)]
    for agent in agents:
        agent.learn(200)
    assert agents[0].fingerprint() == agents[1].fingerprint()
