"""What a learner is: how lines 7-11 of Algorithm 1 are done with networks."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

from soar_il import soar
from soar_il.learners.settings import Settings
from soar_il.networks.mlp import Layers
from soar_il.types import Batch, PRNGKey, Transitions, Tree


@runtime_checkable
class Minibatches(Protocol):
    """Where lines 7-11 draw from. The same key gives the same rows."""

    def each(self, key: PRNGKey) -> Transitions:
        """A minibatch for every critic, [L, B]."""

    def shared(self, key: PRNGKey) -> Transitions:
        """One minibatch of all data, [B]."""

    def demonstrations(self, key: PRNGKey) -> Batch | None:
        """A minibatch of demonstrations, where the base method needs one."""


class Algorithm(NamedTuple):
    """A learner, as an entry of the table: its settings and what it makes of them.

    Its policy may be any tuple, as long as two of its parts are layers of a squashed Gaussian:
    those that explore and those that are kept.
    """

    settings: type[Settings]  # those of every learner, and its own
    init: Callable[..., tuple[Tree, Tree]]  # (key streams, spec, settings) -> critics, policy
    learner: Callable[..., soar.Learner]  # (base, spec, settings)
    started: Callable[..., Tree]  # (policy, layers, settings) -> a policy with these layers
    acting: Callable[[Tree], Layers]  # policy -> what collects
    kept: Callable[[Tree], Layers]  # policy -> what is evaluated and saved
