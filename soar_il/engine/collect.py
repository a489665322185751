"""Line 4: CollectTrajectory, whole episodes with the current policy, one or several at a time."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from soar_il.engine import trial
from soar_il.engine.trial import Trial
from soar_il.envs.blind import BlindEnv
from soar_il.envs.play import episode, episodes
from soar_il.envs.view import View
from soar_il.learners.api import Algorithm
from soar_il.learners.settings import Settings
from soar_il.networks import gaussian
from soar_il.networks.mlp import Layers
from soar_il.types import Array, Bool, Count, Float, PRNGKey, Spec, Trajectory, Tree


class Played(NamedTuple):
    """pi^k as the engine keeps it: the learner's own policy, and which policy users are given."""

    policy: Tree
    updates: Count  # steps of the learner so far
    cloned: Bool[Array, ""]  # whether pi^1 is a clone of the expert; else it acts uniformly
    trial: Trial | tuple[()]  # empty where the latest policy is kept


def same(tau: Trajectory) -> Trajectory:
    """A trajectory as it was played."""
    return tau


class Wanted(NamedTuple):
    """How much an iteration collects at least, unless it is shortened."""

    steps: int
    episodes: int
    needed: int  # of the episodes, however few steps are left: no critic goes without


class Collector(NamedTuple):
    """Plays episodes; each is a function of the policy, the key and its number alone."""

    env: BlindEnv
    view: View
    spec: Spec
    algorithm: Algorithm
    s: Settings
    finish: Callable[[Trajectory], Tree] = same  # what is kept of an episode
    others: tuple[BlindEnv, ...] = ()  # stepped together with ``env``

    def collect(self, pi: Played, key: PRNGKey, left: int | None = None) -> list[Tree]:
        """Episodes until there are enough of them and of steps; a trial that is due comes first.

        ``left`` is how many steps the run still has: it ends with the episode that reaches it.
        """
        uniform, wanted = self._uniform(pi), self.wanted(pi)
        taus: list[Tree] = []
        if isinstance(pi.trial, Trial) and not uniform and trial.due(pi.trial, self.s.trial_every):
            player = trial.player(pi.trial, self.algorithm.kept(pi.policy))
            taus.append(self.play(player, key, 0, noisy=False))
        while True:
            steps = sum(len(tau.actions) for tau in taus)
            if len(taus) >= wanted.episodes and steps >= wanted.steps:
                return taus
            if left is not None and steps >= left and len(taus) >= wanted.needed:
                return taus
            layers = None if uniform else self.algorithm.acting(pi.policy)
            if self.others:
                taus += self.together(layers, key, len(taus))
            else:
                taus.append(self.play(layers, key, len(taus)))

    def wanted(self, pi: Played) -> Wanted:
        """How much the next iteration collects."""
        uniform, first, number = self._uniform(pi), int(pi.updates) == 0, self.s.critics
        own = first and self.s.own_data
        return Wanted(
            self.s.random_steps if uniform else self.s.iteration_steps,
            number if uniform or own else self.s.iteration_trajectories,
            number if own else 1,
        )

    def _uniform(self, pi: Played) -> bool:
        return int(pi.updates) == 0 and not pi.cloned

    def play(self, layers: Layers | None, key: PRNGKey, number: int, noisy: bool = True) -> Tree:
        """One episode by a policy, or by the uniform one where there are no layers."""
        shape = (self.env.horizon, self.spec.action)
        seed, normal, uniform = (np.asarray(x) for x in _draws(key, number, shape))
        normal = normal if noisy else np.zeros_like(normal)

        def act(observation: np.ndarray, step: int) -> np.ndarray:
            if layers is None:
                return uniform[step]
            seen = self.view(observation)
            return np.asarray(gaussian.play(layers, self.spec, seen, normal[step])[0])

        return self.finish(episode(self.env, act, int(seed)))

    def together(self, layers: Layers | None, key: PRNGKey, first: int) -> list[Tree]:
        """An episode in each environment; their numbers go on from ``first``.

        The policy is asked for all of them at once, so that its last bits depend on how many there
        are, as any product of matrices does.
        """
        envs, shape = (self.env, *self.others), (self.env.horizon, self.spec.action)
        drawn = [_draws(key, first + n, shape) for n in range(len(envs))]
        seeds, normal, uniform = (np.stack(x) for x in zip(*drawn, strict=True))

        def act(observations: np.ndarray, step: int) -> np.ndarray:
            if layers is None:
                return uniform[:, step]
            seen = self.view(observations)
            return np.asarray(gaussian.play(layers, self.spec, seen, normal[:, step])[0])

        return [self.finish(tau) for tau in episodes(envs, act, [int(seed) for seed in seeds])]


@partial(jax.jit, static_argnums=2)
def _draws(
    key: PRNGKey, number: int | Count, shape: tuple[int, int]
) -> tuple[Count, Float[Array, "T a"], Float[Array, "T a"]]:
    """Where the episode starts, and its noise: normal, or uniform for pi^1."""
    reset, noise = jax.random.split(jax.random.fold_in(key, number))
    seed = jax.random.randint(reset, (), 0, np.iinfo(np.int32).max)
    uniform = jax.random.uniform(noise, shape, minval=-1.0, maxval=1.0)
    return seed, jax.random.normal(noise, shape, jnp.float32), uniform
