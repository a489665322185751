"""The minibatches of lines 7-11: the learner's data, with a share of the expert's where wanted."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from soar_il.bases.api import half_recent
from soar_il.engine.replay import Replay
from soar_il.learners.settings import Settings
from soar_il.types import Batch, PRNGKey, Transitions


class Draws(NamedTuple):
    """Minibatches of D^k, and of D_E where ``expert`` is there."""

    own: Replay
    expert: Replay | None
    s: Settings
    shows_expert: bool  # whether the base method's loss looks at demonstrations

    def each(self, key: PRNGKey) -> Transitions:
        """A minibatch for every critic, [L, B]."""
        n, k, (ours, theirs) = self._split(key)
        own = self.own.draw_each(ours, n - k, self.s.critics, half_recent(n - k, self.s.recent))
        if self.expert is None:
            return own
        return joined(own, self.expert.draw_each(theirs, k, self.s.critics))

    def shared(self, key: PRNGKey) -> Transitions:
        """One minibatch of all data, [B]."""
        n, k, (ours, theirs) = self._split(key)
        own = self.own.draw(ours, n - k, half_recent(n - k, self.s.recent))
        return own if self.expert is None else joined(own, self.expert.draw(theirs, k))

    def demonstrations(self, key: PRNGKey) -> Batch | None:
        """A minibatch of demonstrations, where the base method's loss looks at them."""
        if self.expert is None or not self.shows_expert:
            return None
        return of_expert(self.expert.draw(jax.random.fold_in(key, 1), self.s.batch))

    def _split(self, key: PRNGKey) -> tuple[int, int, tuple[PRNGKey, PRNGKey]]:
        """Rows in all, rows of the expert, and a key for each kind."""
        n = self.s.batch
        if self.expert is None:
            return n, 0, (key, key)
        ours, theirs = jax.random.split(key)
        return n, min(n - 1, round(self.s.expert_share * n)), (ours, theirs)


def joined(own: Batch, expert: Batch) -> Batch:
    """The expert's rows behind the learner's, marked as such."""
    axis = own.continues.ndim - 1
    both = zip(own, of_expert(expert), strict=True)
    return Batch(*(jnp.concatenate(pair, axis=axis) for pair in both))


def of_expert(batch: Batch) -> Batch:
    """The same rows, marked as the expert's."""
    return batch._replace(expert=jnp.ones(batch.continues.shape, bool))
