"""Line 4: CollectTrajectory, whole episodes with the current policy."""

from functools import partial
from typing import Any

import jax
import numpy as np

from soar_il.deep import policy, trial
from soar_il.deep.settings import Settings
from soar_il.envs.blind import BlindEnv
from soar_il.envs.view import View
from soar_il.types import Spec, Trajectory


class Collector:
    """Plays episodes; each is a function of the policy, the key and its number alone."""

    def __init__(self, env: BlindEnv, view: View, spec: Spec, settings: Settings) -> None:
        self.env, self.view, self.spec, self.settings = env, view, spec, settings

    def __call__(self, pi: policy.Policy, key: Any) -> list[Trajectory]:
        """Trajectories until there are enough steps and enough of them; pi^1 is uniform."""
        s, uniform = self.settings, int(pi.updates) == 0
        steps = s.random_steps if uniform else s.iteration_steps
        number = s.critics if uniform else s.iteration_trajectories  # no critic starts empty
        taus: list[Trajectory] = []
        if s.trial_every and not uniform and trial.due(pi.trial, s.trial_every):
            taus.append(self.episode(pi, key, 0, tried=True))
        while len(taus) < number or sum(len(tau.actions) for tau in taus) < steps:
            taus.append(self.episode(pi, key, len(taus), uniform))
        return taus

    def episode(
        self, pi: policy.Policy, key: Any, number: int, uniform: bool = False, tried: bool = False
    ) -> Trajectory:
        """By pi; or uniformly; or, on trial, by what would be handed out now, without noise."""
        shape = (self.env.horizon, self.spec.action)
        seed, normal, random = (np.asarray(x) for x in _draws(key, number, shape))
        layers = trial.player(pi.trial, policy.current(pi)) if tried else pi.layers
        normal = np.zeros_like(normal) if tried else normal
        observations: list[np.ndarray] = [self.env.reset(int(seed))]
        actions: list[np.ndarray] = []
        terminated = truncated = False
        while not (terminated or truncated):
            step = len(actions)
            if uniform:
                action = random[step]
            else:
                seen = self.view(observations[-1])
                action = np.asarray(policy.play(layers, self.spec, seen, normal[step])[0])
            observation, terminated, truncated = self.env.step(action)
            observations.append(observation)
            actions.append(action)
        return Trajectory(np.stack(observations), np.stack(actions), terminated)


@partial(jax.jit, static_argnums=2)
def _draws(key: Any, number: Any, shape: tuple[int, int]) -> Any:
    """Where the episode starts, and its noise: normal, or uniform for pi^1."""
    reset, noise = jax.random.split(jax.random.fold_in(key, number))
    seed = jax.random.randint(reset, (), 0, np.iinfo(np.int32).max)
    uniform = jax.random.uniform(noise, shape, minval=-1.0, maxval=1.0)
    return seed, jax.random.normal(noise, shape), uniform
