"""The learner's data beside the expert's, for methods whose minibatches hold some of both."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from soar_il.deep.replay import Replay, half_recent
from soar_il.types import Batch


class Mixed(NamedTuple):
    """D^k and D_E."""

    own: Replay
    expert: Replay

    @property
    def new_steps(self) -> Any:
        return self.own.new_steps


def draw(data: Mixed, key: Any, n: int, share: float, recent: int = 0) -> Batch:
    """n transitions, the given share of them the expert's."""
    ours, theirs = jax.random.split(key)
    k = _expert(n, share)
    own = data.own.draw(ours, n - k, half_recent(n - k, recent))
    return _joined(own, data.expert.draw(theirs, k))


def draw_each(data: Mixed, key: Any, n: int, critics: int, share: float, recent: int = 0) -> Batch:
    """The same for every critic, [L, n]."""
    ours, theirs = jax.random.split(key)
    k = _expert(n, share)
    own = data.own.draw_each(ours, n - k, critics, half_recent(n - k, recent))
    return _joined(own, data.expert.draw_each(theirs, k, critics))


def _expert(n: int, share: float) -> int:
    return min(n - 1, round(share * n))


def _joined(a: Batch, b: Batch) -> Batch:
    axis = a.continues.ndim - 1
    return Batch(*(jnp.concatenate(pair, axis=axis) for pair in zip(a, b, strict=True)))
