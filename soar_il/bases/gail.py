"""GAIL (Ho and Ermon 2016): a discriminator of pairs of state and action says what a pair costs.

The authors' learner is TRPO, whose discriminator sees the newest episodes alone. Here it is SAC,
and the discriminator sees the replay: it compares with the pairs of past policies too.
"""

import dataclasses
from functools import partial

from soar_il.bases import discriminator, fitting
from soar_il.bases.api import Base, Needs
from soar_il.bases.given import Given


@dataclasses.dataclass(frozen=True)
class Settings(discriminator.Settings):
    """Those of every discriminator."""


def make(settings: Settings, given: Given) -> Base:
    """D(s, a)."""
    inputs = partial(fitting.inputs, state_only=False)
    judge = discriminator.perceptron(settings, inputs, lambda spec: spec.observation + spec.action)
    return discriminator.classifier(settings, judge, Needs(actions=True))
