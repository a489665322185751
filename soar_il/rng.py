"""Named, stateless random streams: every draw is a pure function of (seed, k, stream).

There is no generator state to save, and a new consumer cannot shift another's stream.
"""

import zlib
from typing import NamedTuple

import jax

from soar_il.types import Count, PRNGKey


class Streams(NamedTuple):
    """The streams of one iteration; calling it with a name gives that stream's key."""

    key: PRNGKey

    def __call__(self, stream: str) -> PRNGKey:
        return jax.random.fold_in(self.key, zlib.crc32(stream.encode()))


def at(seed: int | Count, k: int | Count) -> Streams:
    """The streams of iteration ``k`` of the run with this ``seed`` (both may be traced)."""
    return Streams(jax.random.fold_in(jax.random.key(seed), k))
