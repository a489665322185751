"""How a policy sees an observation: the same in training, in evaluation and on a robot."""

from typing import Any, NamedTuple

import numpy as np

from soar_il.config import Termination

CLIP = 10.0


class Sight(NamedTuple):
    """The first coordinates or all, standardised by the demonstrations, clipped, with the absorbing
    indicator appended."""

    mean: np.ndarray
    scale: np.ndarray
    termination: Termination
    indicator: float
    horizon: int
    discount: float
    observed: int = 0

    def __call__(self, observations: Any) -> np.ndarray:
        seen = np.asarray(observations, np.float32)[..., : self.observed or None]
        seen = np.clip((seen - self.mean) / self.scale, -CLIP, CLIP) if self.mean.size else seen
        if self.termination == "absorbing":
            seen = np.concatenate([seen, np.zeros_like(seen[..., :1])], axis=-1)
        return seen
