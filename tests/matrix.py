"""Whether soar-il installs and works: each Python that uv finds, lowest and newest versions.

    python tests/matrix.py             # needs uv on the PATH
    python tests/matrix.py 3.12        # one of them

The wheel is installed as users do, into an empty environment; the tests see no other copy of it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
RESOLUTIONS = ("lowest-direct", "highest")
TOOLS = ["pytest>=8", "pytest-xdist>=3.6", "hypothesis>=6.100", "beartype>=0.20"]
TRIED = ["policy", "test_optimism.py", "test_rng.py", "envs/test_blind.py", "runs/test_storage.py"]


def run(*command, **more):
    """Whether it worked, and what it said."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **more)
    return done.returncode == 0, (done.stdout + done.stderr).strip()


def tried(python, resolution, scratch, wheel):
    """What became of one combination; lowest is the lowest that this Python has a wheel of."""
    place = scratch / f"{python}-{resolution}"
    fine, said = run("uv", "venv", "--python", python, place / "venv")
    if not fine:
        return f"no such Python here: {said.splitlines()[-1]}"
    inside = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
    install = ["uv", "pip", "install", "--python", inside / "python"]
    wheels = ["--resolution", resolution, "--only-binary", ":all:"]
    fine, said = run(*install, *wheels, wheel, *TOOLS)
    if not fine:
        return f"does not install:\n{said}"
    shutil.copytree(ROOT / "tests", place / "tests")
    shutil.copy(ROOT / "pyproject.toml", place)
    fine, said = run(inside / "soar", "doctor", cwd=place)
    if not fine:
        return f"soar doctor fails:\n{said}"
    asked = [place / "tests" / name for name in TRIED]
    pytest = [inside / "python", "-m", "pytest", "-n", "0", "-W", "default"]  # of others' versions
    fine, said = run(*pytest, *asked, cwd=place)
    return f"{'works' if fine else 'FAILS'}: {said.splitlines()[-1] if fine else said}"


def main(pythons):
    with tempfile.TemporaryDirectory() as scratch:
        failed = False
        fine, said = run("uv", "build", "--wheel", "--out-dir", scratch, ROOT)
        if not fine:
            sys.exit(f"there is no wheel:\n{said}")
        (wheel,) = Path(scratch).glob("*.whl")
        for python in pythons or PYTHONS:
            for resolution in RESOLUTIONS:
                said = tried(python, resolution, Path(scratch), wheel)
                failed |= not said.startswith(("works", "no such"))
                print(f"Python {python}, {resolution} versions: {said}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
