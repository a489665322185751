"""The expert's part of a minibatch: as it is said, from the first environment step to the last."""

import jax
import numpy as np
import owed
import pytest
import tiny

from soar_il.engine import draws, replay
from soar_il.errors import ConfigError
from soar_il.learners import sac
from soar_il.types import Spec, Treated

SPEC = Spec(1, 1)


def treated(level, n=8, length=10):
    one = np.ones(length, np.float32)
    states = np.full((length + 1, 1), level, np.float32)
    return [Treated(states, np.zeros((length, 1), np.float32), one, one, one)] * n


def minibatches(steps, critics=1, split="minibatches", **more):
    """After so many environment steps; states are 1 in demonstrations, -2 in the 80 newest rows."""
    moving = {"expert_share": 0.4, "expert_share_last": 0.1, "expert_share_steps": 1000}
    s = sac.Settings(critics=critics, split=split, batch=100, **{**moving, **more})
    empty = replay.empty(SPEC, 1024, critics if s.own_data else 0)
    own = replay.add(empty, treated(-1.0, 40), steps - 80)
    own = replay.add(own, treated(-2.0), 80)
    expert = replay.add(replay.empty(SPEC, 1024, 0), treated(1.0), 0)
    return draws.Draws(own, expert, s, shows_expert=False)


@pytest.mark.parametrize(("critics", "split"), [(1, "minibatches"), (4, "trajectories")])
@pytest.mark.parametrize(("steps", "share"), [(80, 38), (500, 25), (1000, 10), (10**6, 10)])
def test_it_moves_in_a_straight_line_and_then_stays(critics, split, steps, share):
    source = minibatches(steps, critics, split)
    for batch in (source.each(jax.random.key(0)), source.shared(jax.random.key(0))):
        assert batch.continues.shape[-1] == 100
        np.testing.assert_array_equal(np.sum(batch.expert, axis=-1), share)
        np.testing.assert_array_equal(batch.expert, batch.observations[..., 0] == 1.0)


def test_it_may_grow_and_leaves_the_learner_a_row():
    grown = {"expert_share": 0.1, "expert_share_last": 0.999}
    batch = minibatches(10**6, **grown).shared(jax.random.key(0))
    assert np.sum(batch.expert) == 99
    assert np.sum(minibatches(80, **grown).shared(jax.random.key(0)).expert) == 17


@pytest.mark.parametrize("steps", [80, 1000])
def test_half_of_the_learner_s_own_rows_are_recent_whatever_the_share(steps):
    s = minibatches(steps, recent=80)
    rows = s.shared(jax.random.key(0))
    own = 100 - int(np.sum(rows.expert))
    recent = int(np.sum(rows.observations == -2.0))
    rest = own - own // 2  # of these a sixth are among the newest too
    assert own // 2 <= recent <= own // 2 + 0.45 * rest


def test_one_compiled_program_serves_all_shares():
    seen = []

    @jax.jit
    def shared(source_own, source_expert, key):
        seen.append(1)
        return draws.Draws(source_own, source_expert, s, shows_expert=False).shared(key)

    for steps in (80, 500, 2000):
        source = minibatches(steps)
        s = source.s
        shared(source.own, source.expert, jax.random.key(0))
    assert len(seen) == 1


def test_what_is_not_read_or_makes_no_sense_is_refused():
    with pytest.raises(ConfigError, match="expert_share_last"):
        sac.Settings(expert_share=0.3, expert_share_last=0.1)
    with pytest.raises(ConfigError, match="expert_share"):
        sac.Settings(expert_share=0.0, expert_share_steps=10)
    with pytest.raises(ConfigError, match="expert_share_last"):
        tiny.imitator(base="sqil", learner={"expert_share_steps": 10})


@pytest.mark.parametrize("critics", [1, 4])
def test_a_run_goes_on_exactly_while_it_moves(critics, tmp_path):
    learner = {"expert_share": 0.5, "expert_share_last": 0.1, "expert_share_steps": 400}
    whole, resumed, half, _ = owed.straight_and_resumed(
        tmp_path, base="ml-irl-sa", critics=critics, learner=learner
    )
    assert whole == resumed != half
