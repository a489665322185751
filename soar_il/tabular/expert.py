"""Expert data sets: states or state-action pairs drawn from the expert's occupancy measure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from soar_il.errors import MdpError
from soar_il.tabular.mdp import Array, Mdp


@dataclass(frozen=True, eq=False)
class ExpertData:
    """D_E: how often each state ([S]) or state-action pair ([S, A]) was drawn."""

    counts: Array

    def __post_init__(self) -> None:
        if self.counts.ndim not in (1, 2) or self.counts.sum() < 1 or self.counts.min() < 0:
            raise MdpError(
                f"counts of shape {self.counts.shape} and sum {self.counts.sum():g}",
                "expert data",
                "give non-negative counts, [S] or [S, A], at least one of them positive",
            )

    @property
    def state_only(self) -> bool:
        return self.counts.ndim == 1

    @property
    def size(self) -> int:
        """|D_E|."""
        return int(self.counts.sum())

    @property
    def occupancy(self) -> Array:
        """The estimated expert occupancy measure (CostUpdateTabular, lines 3 and 6)."""
        return self.counts / self.counts.sum()


def draw_expert(
    mdp: Mdp, size: int, seed: int, state_only: bool = True, policy: ArrayLike | None = None
) -> ExpertData:
    """``size`` independent draws from d^E; the expert is the optimal policy unless one is given."""
    if size < 1:
        raise MdpError(f"{size} expert samples", mdp.name, "ask for at least one")
    d = mdp.occupancy(mdp.optimal_policy() if policy is None else policy)
    if state_only:
        d = d.sum(axis=1)
    rng = np.random.default_rng([seed, 0xE])
    return ExpertData(rng.multinomial(size, d.ravel()).reshape(d.shape).astype(float))
