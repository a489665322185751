"""A policy of a run, acted with JAX: the actions that training would take, bit for bit."""

import numpy as np

from soar_il.networks import gaussian
from soar_il.networks.mlp import ACTIVATIONS
from soar_il.policy import Policy
from soar_il.types import Float, Spec


def act(
    policy: Policy,
    observations: Float[np.ndarray, "*n s"],
    noise: Float[np.ndarray, "*n a"] | None = None,
) -> Float[np.ndarray, "*n a"]:
    """Actions in [-1, 1]: the policy's mode, or with standard normal noise a draw from it."""
    seen, activation = policy.view(observations), ACTIVATIONS[policy.activation]
    if noise is None:
        return np.asarray(gaussian.play_mode(policy.layers, seen, activation))
    spec = Spec(0, len(policy.low))
    return np.asarray(gaussian.play(policy.layers, spec, seen, noise, activation)[0])
