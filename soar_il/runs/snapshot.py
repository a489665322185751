"""A policy of a run, acted with JAX: the actions that training would take, bit for bit."""

import numpy as np

from soar_il.envs.blind import BlindEnv
from soar_il.errors import EnvError
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


def require_fit(policy: Policy, env: BlindEnv) -> None:
    """The policy's observations and actions are the environment's, or an error says what is not."""
    size = policy.observation_size or policy.seen_size  # old files know what they look at alone
    fits = env.observation_size == size or (
        not policy.observation_size and 0 < policy.view.observed <= env.observation_size
    )
    said = []
    if not fits:
        said.append(f"its observations have {env.observation_size} coordinates, not {size}")
    bounds = [(x.low.tolist(), x.high.tolist()) for x in (env, policy)]
    if bounds[0] != bounds[1]:
        own, theirs = (f"{low} to {high}" for low, high in bounds)
        said.append(f"its actions go from {own}, not from {theirs}")
    if said:
        do = f"use the environment that the policy was trained in: {policy.env}"
        raise EnvError(f"the policy does not fit: {'; '.join(said)}", env.name, do)
