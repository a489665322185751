"""Runs so small that they take a second, on the point mass."""

import dataclasses

import gymnasium as gym
import toys

from soar_il.agent import Imitator
from soar_il.bases import BASES, cloning
from soar_il.build import takes_steps
from soar_il.configure import resolve

LEARNER = {  # with a discount of its own: a preset that is tuned again changes no fingerprint
    "discount": 0.99,
    "hidden": [16, 16],
    "batch": 16,
    "iteration_steps": 60,
    "random_steps": 60,
    "capacity": 2048,
    "trial_every": 100,
    "inverse_hidden": [16],
}
EVERY_BASE = sorted(BASES)
COST = {  # those of them that a method has
    "hidden": [16],
    "batch": 16,
    "ratio_batch": 16,
    "width": 16,
    "critic_steps": 20,
    "centres": 16,
    "expert_steps": 20,
}


def cost(base):
    """Small settings for a method of the table."""
    fields = {f.name for f in dataclasses.fields(BASES[base].settings)}
    if issubclass(BASES[base].settings, cloning.Settings):
        return {**{n: v for n, v in COST.items() if n in fields - {"hidden"}}, "steps": 200}
    return {name: value for name, value in COST.items() if name in fields}


def most(base):
    """L as other tests have it, or 1 for a method that takes no steps and has no critics."""
    return 4 if takes_steps(resolve(base, "Point-v0")) else 1


def settings(base):
    """The same as a command is given them."""
    learner = (f"learner.{name}={value}" for name, value in LEARNER.items())
    return [*learner, *(f"cost.{name}={value}" for name, value in cost(base).items())]


CASES = [(base, critics) for base in EVERY_BASE for critics in (1, 4) if critics <= most(base)]
SETTINGS = settings("ml-irl")


def register():
    """The point mass by an id, for commands."""
    if "Point-v0" not in gym.registry:
        gym.register("Point-v0", "toys:PointMass", max_episode_steps=toys.HORIZON)


def demos(n=4):
    return toys.demos_of(toys.PointMass, n, seed=0)


def imitator(env=toys.PointMass, critics=4, **more):
    """As many critics as other tests have, unless asked otherwise: there is less to compile."""
    learner = {**LEARNER, **more.pop("learner", {})}
    base = more.get("base", "ml-irl")
    return Imitator(
        env,
        more.pop("demos", None) or demos(),
        critics=critics,
        horizon=more.pop("horizon", toys.HORIZON),
        learner=learner,
        cost=more.pop("cost", cost(base) if base in EVERY_BASE else None),
        **more,
    )


def main():
    """``soar`` with the point mass known."""
    from soar_il.cli import main

    register()
    main()


if __name__ == "__main__":
    main()
