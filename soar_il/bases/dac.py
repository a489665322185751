"""DAC (Kostrikov et al. 2019): GAIL from replay, where the end of an episode is a state.

That state is the engine's termination mode ``absorbing``; without it the sign of the reward would
say what survival is worth, and so DAC asks for it.
"""

import dataclasses
from functools import partial

from soar_il.bases import discriminator, fitting
from soar_il.bases.api import Base, Needs
from soar_il.bases.given import Given


@dataclasses.dataclass(frozen=True)
class Settings(discriminator.Settings):
    """Those of every discriminator; the penalty is the authors'."""

    gradient_penalty: float = 10.0
    by_size: bool = False
    slope: float = 1.0


def make(settings: Settings, given: Given) -> Base:
    """D(s, a), where s may be the absorbing state."""
    inputs = partial(fitting.inputs, state_only=False)
    judge = discriminator.perceptron(settings, inputs, lambda spec: spec.observation + spec.action)
    return discriminator.classifier(settings, judge, Needs(actions=True, absorbing=True))
