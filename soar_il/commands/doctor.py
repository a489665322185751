"""``soar doctor``: what is installed, what this machine can do, and what to do about the rest."""

import contextlib
import importlib
import io
import os
import platform
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from soar_il import provenance
from soar_il.errors import ConfigError, EnvError

EXTRAS = {
    "minari": ("minari", "demonstrations of Minari"),
    "onnx": ("onnxruntime", "soar export --onnx"),
    "ray": ("ray", "sweeps on a cluster"),
    "tensorboard": ("tensorboardX", "soar train --tensorboard"),
    "video": ("imageio_ffmpeg", "films as MP4"),
}


class Line(NamedTuple):
    """One thing that was looked at."""

    what: str
    found: str
    fine: bool = True
    do: str = ""  # where it is not fine


def doctor(quick: bool = False) -> None:
    """Say what is installed and whether it works; the exit code is 2 if something is wrong.

    Args:
        quick: Leave out the self-test, which trains, stops and resumes a tiny run in some seconds.
    """
    from rich.table import Table

    from soar_il.terminal.progress import console

    lines = [*versions(), *machine(), *extras(), drawing(), folder()]
    if not quick:
        lines.append(self_test())
    table = Table("", "", "what to do")
    for line in lines:
        mark = "" if line.fine else "! "
        table.add_row(f"{mark}{line.what}", line.found, line.do)
    console.print(table)
    wrong = [line.what for line in lines if not line.fine]
    if wrong:
        raise ConfigError(f"not as it should be: {', '.join(wrong)}", do="see the table above")
    console.print("all is as it should be")


def versions() -> list[Line]:
    """Python's and the packages' that decide numbers."""
    python = platform.python_version()
    fine = sys.version_info >= (3, 11)
    found = [Line("Python", python, fine, "" if fine else "use Python 3.11 or newer")]
    return found + [Line(name, version) for name, version in provenance.versions().items()]


def machine() -> list[Line]:
    """Cores, threads and what JAX computes on."""
    import jax

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = os.environ.get("SOAR_THREADS", "1")
    exact = "bits repeat" if threads == "1" else "bits may differ from run to run"
    devices = ", ".join(str(device) for device in jax.devices())
    return [
        Line("machine", f"{platform.system()} {platform.machine()}, {cores} cores to use"),
        Line("threads of a run", f"{threads} (SOAR_THREADS): {exact}"),
        Line("devices", devices),
    ]


def extras() -> list[Line]:
    """What may be installed beside; none of it is needed."""
    found = []
    for extra, (module, use) in EXTRAS.items():
        try:
            importlib.import_module(module)
            found.append(Line(f"extra {extra}", metadata.version(module.replace("_", "-"))))
        except (ImportError, metadata.PackageNotFoundError):
            do = f"for {use}: pip install 'soar-il[{extra}]'"
            found.append(Line(f"extra {extra}", "not installed", do=do))
    return found


def drawing() -> Line:
    """Whether MuJoCo can draw, which videos need."""
    from soar_il.evaluation import rendering

    try:
        rendering.choose("Hopper-v5")
    except EnvError as error:
        return Line("drawing (GL)", error.what, do=f"for videos: {error.do}")
    return Line("drawing (GL)", os.environ["MUJOCO_GL"])


def folder() -> Line:
    """Whether the current folder can be written, and how much room there is."""
    import shutil

    try:
        with tempfile.TemporaryFile(dir="."):
            pass
    except OSError as error:
        do = "go to a folder that can be written, or give --out"
        return Line("this folder", f"cannot be written ({error.strerror})", False, do)
    free = shutil.disk_usage(".").free / 2**30
    enough = free >= 1
    do = "" if enough else "free some space: a run of a million steps needs about 1 GiB"
    return Line("this folder", f"{free:.0f} GiB free", enough, do)


def self_test() -> Line:
    """A tiny run from demonstrations, stopped and resumed: the bits must be the same."""
    began = time.monotonic()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            same = _trained()
    except Exception as error:  # whatever is broken on this machine
        return Line("self-test", f"{type(error).__name__}: {error}", False, "report it, with this")
    seconds = f"{time.monotonic() - began:.0f} s"
    if not same:
        do = "resumed runs are not exact here: report it, with this table"
        return Line("self-test", f"a resumed run differs ({seconds})", False, do)
    return Line("self-test", f"trained, stopped and resumed exactly in {seconds}")


def _trained() -> bool:
    import numpy as np

    from soar_il.agent import Imitator
    from soar_il.demos import Demos

    swings = [np.random.default_rng(n).normal(size=(201, 3)) for n in range(2)]
    small: dict[str, object] = {"hidden": [16, 16], "batch": 16, "capacity": 2048}
    few = {"iteration_steps": 200, "random_steps": 200, "updates_per_step": 0.1}
    cost = {"hidden": [16], "batch": 16, "steps_per_step": 0.1}

    def begun(place: Path | None = None) -> Imitator:
        demos = Demos.from_arrays(swings)
        return Imitator(
            "Pendulum-v1", demos, critics=2, folder=place, learner={**small, **few}, cost=cost
        )

    with tempfile.TemporaryDirectory() as scratch:
        with begun() as whole:
            whole.learn(200).learn(200)
            wanted = whole.fingerprint()
        with begun() as first:
            first.learn(200).save(Path(scratch) / "run")
        with Imitator.load(Path(scratch) / "run") as second:
            return second.learn(200).fingerprint() == wanted
