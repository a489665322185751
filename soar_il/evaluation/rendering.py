"""Pictures without a screen: which of MuJoCo's software renderers this machine has."""

import os
import subprocess
import sys

import gymnasium as gym

from soar_il.errors import EnvError

TRY = (
    "import gymnasium as gym; env = gym.make('Hopper-v5', render_mode='rgb_array'); "
    "env.reset(seed=0); assert env.render().any(); env.close()"
)
PACKAGES = "apt-get install libosmesa6 (or libegl1 and libgl1-mesa-dri)"


def choose(env: str) -> None:
    """Set MUJOCO_GL to what works, unless the user has; before the first picture is made.

    Each is tried in a process of its own: a library that fails may take its process with it.
    """
    spec = gym.registry.get(env.rpartition(":")[2])
    if spec is None or "mujoco" not in str(spec.entry_point):
        return
    given = os.environ.get("MUJOCO_GL")
    for backend in (given,) if given else ("egl", "osmesa"):
        environment = {**os.environ, "MUJOCO_GL": backend}
        tried = subprocess.run(
            [sys.executable, "-c", TRY], env=environment, capture_output=True, check=False
        )
        if tried.returncode == 0:
            os.environ["MUJOCO_GL"] = backend
            return
    what = f"MUJOCO_GL={given} cannot draw here" if given else "this machine has no GL library"
    raise EnvError(what, "rendering", f"install one: {PACKAGES}; all but pictures works without")
