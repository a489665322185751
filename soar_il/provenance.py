"""What made a result: versions, machine, command."""

import os
import platform
import shlex
import sys
from importlib import metadata
from typing import Any

PACKAGES = (
    *("soar-il", "jax", "jaxlib", "numpy", "scipy", "optax", "safetensors"),
    *("gymnasium", "mujoco"),
)


def about() -> dict[str, Any]:
    """Enough to say whether another machine should give the same numbers."""
    return {
        "format": 1,
        "command": shlex.join(["soar", *sys.argv[1:]]),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "threads": os.environ.get("SOAR_THREADS", "1"),
        "versions": {name: metadata.version(name) for name in PACKAGES},
    }
