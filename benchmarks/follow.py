"""What a person opens to follow one deep ML-IRL run from ``soar train`` to a critic's gradient.

The files of the package of which a function runs on that way, each with its lines (as ``wc -l``
counts them) and the lines of those functions. Left out are storage, the terminal, formats of
demonstrations and the other methods of the table.

    python benchmarks/follow.py [CHECKOUT]     # of another commit: git worktree add CHECKOUT COMMIT
"""

import contextlib
import inspect
import io
import sys
import tempfile
from pathlib import Path
from types import CodeType, FrameType

BESIDE = (
    *("audit", "demos", "evaluation", "experts", "figures", "policy/", "report", "statistics"),
    *("terminal", "arrays.py", "errors.py", "files.py", "provenance.py", "seal.py"),
    *(
        "commands/asked.py",
        "commands/watch.py",
        "envs/exploration.py",
        "envs/ids.py",
        "envs/scored.py",
    ),
)
RUNS = ("runs/run.py", "runs/told.py", "runs/train.py")  # of that room; the others store
BASES = ("bases/api.py", "bases/fitting.py", "bases/inverse.py", "bases/ml_irl.py")
SETTINGS = ("horizon=30", "learner.hidden=[16,16]", "learner.batch=16", "learner.trial_every=0")
SIZES = ("learner.iteration_steps=60", "learner.random_steps=60", "learner.capacity=2048")


class Arrived(BaseException):
    """The function whose gradient moves the critics is being traced."""


def on_the_way(file: str) -> bool:
    """Whether a person who follows the run opens this file."""
    if file.startswith(BESIDE) or file.endswith("__init__.py"):
        return False
    kept = {"runs": RUNS, "bases": BASES}.get(file.split("/")[0])
    return (kept is None or file in kept) and file != "engine/trial.py"  # there are no trials


def ran(root: Path) -> set[CodeType]:
    """The functions of the package that run until then."""
    import gymnasium as gym
    import toys

    from soar_il import cli
    from soar_il.demos import npz

    found: set[CodeType] = set()

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(root / "soar_il")):
            return
        if code.co_flags & inspect.CO_OPTIMIZED:  # a function, not the body of a class
            found.add(code)
        if code.co_qualname.startswith("towards.<locals>"):
            sys.setprofile(None)
            raise Arrived

    gym.register("Point-v0", "toys:PointMass", max_episode_steps=toys.HORIZON)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        demos = str(Path(folder) / "point.npz")
        npz.write(toys.demos_of(toys.PointMass, 4, seed=0), demos)
        sys.argv = ["soar", "train", "--env", "Point-v0", "--demos", demos, "--critics", "4"]
        sys.argv += ["--evaluate-every", "0", "--out", f"{folder}/run"]
        sys.argv += ["--set", *SETTINGS, *SIZES]
        sys.setprofile(watch)
        with contextlib.suppress(Arrived):
            cli.main()
    return found


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    sys.path[:0] = [str(root), str(root / "tests")]
    lines: dict[str, set[int]] = {}
    for code in ran(root):
        file = Path(code.co_filename).relative_to(root / "soar_il").as_posix()
        if on_the_way(file) and not code.co_name.startswith("<"):
            first, size = code.co_firstlineno, len(inspect.getsourcelines(code)[0])
            lines.setdefault(file, set()).update(range(first, first + size))
    whole = {f: len((root / "soar_il" / f).read_text().splitlines()) for f in lines}
    for file in sorted(lines):
        print(f"{whole[file]:5} {len(lines[file]):5}  soar_il/{file}")
    inside, total = sum(map(len, lines.values())), sum(whole.values())
    print(f"{total:5} {inside:5}  all {len(lines)} files")


if __name__ == "__main__":
    main()
