"""The minibatches of lines 7-11: the learner's data, with a share of the expert's where wanted."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from soar_il.bases.api import EVERYTHING, Recent, half_recent
from soar_il.engine.data import Replay
from soar_il.learners.settings import Settings
from soar_il.types import Batch, Count, PRNGKey, Transitions


class Draws(NamedTuple):
    """Minibatches of D^k, and of D_E where ``expert`` is there."""

    own: Replay
    expert: Replay | None
    s: Settings
    shows_expert: bool  # whether the base method's loss looks at demonstrations

    def each(self, key: PRNGKey) -> Transitions:
        """A minibatch for every critic, [L, B]."""
        n, k, (ours, theirs) = self._split(key)
        own = self.own.draw_each(ours, n, self.s.critics, self._reach(n))
        if self.expert is None:
            return own
        return self._joined(own, self.expert.draw_each(theirs, k, self.s.critics))

    def shared(self, key: PRNGKey) -> Transitions:
        """One minibatch of all data, [B]."""
        n, k, (ours, theirs) = self._split(key)
        own = self.own.draw(ours, n, self._reach(n))
        return own if self.expert is None else self._joined(own, self.expert.draw(theirs, k))

    def demonstrations(self, key: PRNGKey) -> Batch | None:
        """A minibatch of demonstrations, where the base method's loss looks at them."""
        if self.expert is None or not self.shows_expert:
            return None
        return of_expert(self.expert.draw(jax.random.fold_in(key, 1), self.s.batch))

    def _split(self, key: PRNGKey) -> tuple[int, int, tuple[PRNGKey, PRNGKey]]:
        """How many rows of the learner's and of the expert's to draw, and a key for each kind."""
        n, k = self.s.batch, self._most()
        if self.expert is None:
            return n, 0, (key, key)
        ours, theirs = jax.random.split(key)
        return n if self.s.share_moves else n - k, k, (ours, theirs)

    def _joined(self, own: Batch, expert: Batch) -> Batch:
        """The expert's rows behind the learner's; as many as there are to be by now."""
        return mixed(own, expert, self._now()) if self.s.share_moves else joined(own, expert)

    def _now(self) -> Count:
        """How many rows are the expert's at this number of environment steps."""
        s = self.s
        way = jnp.clip(self.own.steps / max(1, s.expert_share_steps), 0.0, 1.0)
        share = s.expert_share + way * (s.expert_share_last - s.expert_share)
        return jnp.minimum(self._most(), jnp.round(share * s.batch).astype(jnp.int32))

    def _most(self) -> int:
        """How many rows are the expert's when these are most; at least one is the learner's."""
        s = self.s
        share = max(s.expert_share, s.expert_share_last) if s.share_moves else s.expert_share
        return min(s.batch - 1, round(share * s.batch))

    def _reach(self, n: int) -> Recent:
        """How far back each of the learner's n rows may reach: half of those that are used."""
        if not (self.s.recent and self.s.share_moves and self.expert is not None):
            return half_recent(n, self.s.recent)
        return jnp.where(jnp.arange(n) < (n - self._now()) // 2, self.s.recent, EVERYTHING)


def joined(own: Batch, expert: Batch) -> Batch:
    """The expert's rows behind the learner's, marked as such."""
    axis = own.continues.ndim - 1
    both = zip(own, of_expert(expert), strict=True)
    return Batch(*(jnp.concatenate(pair, axis=axis) for pair in both))


def mixed(own: Batch, expert: Batch, now: Count) -> Batch:
    """The learner's rows, the last ``now`` of them replaced by the expert's, of which there are k.

    Sizes are the same whatever ``now`` is, so that one compiled program serves all.
    """
    n, k = own.continues.shape[-1], expert.continues.shape[-1]
    theirs = jnp.arange(n) >= n - now
    whose = jnp.where(theirs, jnp.arange(n) + k, jnp.arange(n))  # places in what is joined
    axis = own.continues.ndim - 1
    return Batch(*(jnp.take(x, whose, axis=axis) for x in joined(own, expert)))


def of_expert(batch: Batch) -> Batch:
    """The same rows, marked as the expert's."""
    return batch._replace(expert=jnp.ones(batch.continues.shape, bool))
