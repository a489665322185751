"""Several environments that are stepped together: copies of one, or a vector environment."""

from typing import Any

import gymnasium as gym

from soar_il.envs import ids
from soar_il.envs.blind import BlindEnv, Source, made
from soar_il.errors import EnvError

OF_MAKE_VEC = ("num_envs", "vectorization_mode")  # its own arguments, not the environment's
PLAIN = (bool, int, float, str)


def copies(source: Source, n: int, horizon: int | None, name: str) -> tuple[BlindEnv, ...]:
    """n more environments like the first one."""
    if n and isinstance(source, gym.Env):
        do = "give an id or a function that makes it, or n_envs = 1"
        raise EnvError("is one object, and n_envs asks for several", name, do)
    return tuple(BlindEnv(source, horizon, name) for _ in range(n))


def taken_apart(env: Any) -> tuple[Source, int | None]:
    """What makes one environment of a vector environment, and how many it has; others as given.

    Collecting needs environments that start with seeds of their own and wait for each other at the
    end of an episode, so it makes its own and steps these in this process.
    """
    if not isinstance(env, gym.vector.VectorEnv):
        return env, None
    if "env_fns" not in vars(env.unwrapped):
        do = "give an id or a function, and n_envs=8 beside it"
        raise EnvError(f"{env.unwrapped} does not say how one of it is made", "env", do)
    if env is not env.unwrapped:
        do = "wrap each of the environments, not all of them together"
        raise EnvError(f"{type(env).__name__} is around a vector environment", "env", do)
    inside: Any = env
    function = inside.env_fns[0]
    return _by_name(env, function) or function, inside.num_envs


def _by_name(env: gym.vector.VectorEnv, function: Any) -> str | None:
    """The id, where it gives the same environment: a run that is loaded makes it again from it."""
    if env.spec is None:
        return None
    given = {name: x for name, x in env.spec.kwargs.items() if name not in OF_MAKE_VEC}
    if not all(isinstance(x, PLAIN) for x in given.values()):
        return None
    name = ids.compose(env.spec.id, given) if given else env.spec.id
    ours, theirs = made(name), function()
    try:
        return name if str(ours) == str(theirs) else None
    finally:
        ours.close()
        theirs.close()
