"""GAIfO (Torabi et al. 2018): GAIL from states alone, by a discriminator of transitions (s, s')."""

import dataclasses

import jax.numpy as jnp

from soar_il.bases import discriminator
from soar_il.bases.api import Base, Needs
from soar_il.bases.given import Given
from soar_il.types import Array, Batch


@dataclasses.dataclass(frozen=True)
class Settings(discriminator.Settings):
    """Those of every discriminator."""


def make(settings: Settings, given: Given) -> Base:
    """D(s, s')."""

    def inputs(batch: Batch) -> Array:
        return jnp.concatenate([batch.observations, batch.next_observations], axis=-1)

    judge = discriminator.perceptron(settings, inputs, lambda spec: 2 * spec.observation)
    return discriminator.classifier(settings, judge, Needs())
