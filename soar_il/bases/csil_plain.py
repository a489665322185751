"""CSIL as Algorithm 10 of the paper has it: c(s, a) = -log pi_BC(a|s), and nothing else.

Options add parts of the authors' method (csil.py).
"""

import dataclasses

import jax.numpy as jnp

from soar_il.bases import cloning, csil
from soar_il.bases.api import Base, Data, Needs
from soar_il.bases.csil import Cloned
from soar_il.bases.given import Given
from soar_il.config import check_range, only_read_with
from soar_il.types import Array, Batch, Metrics, PRNGKey, Spec


@dataclasses.dataclass(frozen=True)
class Settings(csil.Anchored):
    """How the clone is made and used.

    Args:
        faithful: Whether the clone's mean is fitted by squared error, or all of it by likelihood.
        anchored: Whether the actor starts as the clone and is held to it.
        hidden: Sizes of the clone's hidden layers where the actor does not start from it; empty
            for the actor's own.
    """

    faithful: bool = True
    anchored: bool = True
    hidden: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "hidden", tuple(self.hidden))  # a list would not hash
        if self.hidden:
            check_range(self, ("hidden",), least=1)
        if self.anchored:
            only_read_with(self, ("hidden",), "anchored = false")
        else:
            only_read_with(self, ("critic_steps", "action_slope", "slope_batch"), "anchored = true")


def make(settings: Settings, given: Given) -> Base:
    """Algorithm 10, and the parts of the authors' method that the settings ask for."""
    s = settings

    def init(key: PRNGKey, spec: Spec, expert: Data) -> Cloned:
        hidden = s.hidden or given.hidden
        layers = cloning.cloned(key, spec, expert, s, hidden, s.faithful)
        return Cloned(layers, layers, None)

    def cost_of(clone: Cloned, batch: Batch) -> Array:
        density = csil.log_density(clone, clone.judge, batch.observations, batch.actions)
        return jnp.clip(-density, -s.bound, s.bound)

    def update(clone: Cloned, expert: Data, data: Data, key: PRNGKey) -> tuple[Cloned, Metrics]:
        return clone, cloning.gap_of(cost_of, s.batch, clone, expert, data, key)

    base = Base(Needs(actions=True), init, update, cost_of, least_cost=-s.bound)
    return csil.anchored(s, base) if s.anchored else base
