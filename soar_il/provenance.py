"""What made a result: versions, machine, command."""

import hashlib
import os
import platform
import shlex
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

from soar_il.files import Fields

PACKAGES = (
    *("soar-il", "jax", "jaxlib", "numpy", "scipy", "optax", "safetensors"),
    *("gymnasium", "mujoco"),
)
# What starts, watches or reports runs: no bit of a run depends on it.
BESIDE = {
    *("commands", "evaluation", "figures", "report", "statistics", "sweep", "tabular", "terminal"),
    *("agent.py", "cli.py", "__main__.py"),
}


def about() -> Fields:
    """Enough to say whether another machine should give the same numbers."""
    return {
        "format": 1,
        "command": shlex.join(["soar", *sys.argv[1:]]),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "threads": os.environ.get("SOAR_THREADS", "1"),
        "versions": dict(versions()),
        "code": code(),
    }


@cache
def versions() -> dict[str, str]:
    """Of the packages that decide numbers."""
    return {name: metadata.version(name) for name in PACKAGES}


@cache
def code() -> str:
    """SHA-256 over the source that decides the bits of a run."""
    root, digest = Path(__file__).parent, hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if name.parts[0] not in BESIDE:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{name.as_posix()} {content}\n".encode())
    return digest.hexdigest()
