"""``soar audit``: how much of a score a method reaches without what it is meant to learn from."""

from pathlib import Path

from soar_il.commands.asked import Assignments, assigned, check_steps
from soar_il.config import Termination
from soar_il.terminal.progress import console, say


def audit(
    env: str = "Hopper-v5",
    base: str = "ml-irl",
    demos: Path | None = None,
    critics: int | None = None,
    steps: int = 30_000,
    seed: int = 0,
    demonstrations: int = 0,
    termination: Termination | None = None,
    preset: str = "tuned",
    settings: Assignments = (),
    episodes: int = 10,
    out: Path | None = None,
) -> None:
    """Train a method on its demonstrations and on five controls that cannot teach it the task.

    The controls: shuffled demonstrations, those of random actions, those of one action, no cost at
    all, and a cost that only says when the episode ends. Where a control comes near the real run,
    the return is no proof of imitation.

    Args:
        env: A Gymnasium id with flat continuous spaces.
        base: The base method.
        demos: Demonstrations; by default what `soar train` would take.
        critics: L, the number of pairs of critics.
        steps: Environment steps of each run.
        seed: The seed of all random draws.
        demonstrations: How many trajectories to use, from the first; 0 for all.
        termination: How the end of an episode is treated: absorbing, fixed or early.
        preset: tuned, paper, or a TOML file of your own.
        settings: More settings, such as learner.alpha=0.1.
        episodes: Deterministic episodes to evaluate each run's last policy with.
        out: The folder of the runs; by default results/audit/<env>/<base>-seed<seed>.
    """
    from rich.table import Table

    from soar_il.audit.run import audit as run_audit
    from soar_il.configure import resolve
    from soar_il.demos import Demos
    from soar_il.experts.record import find_or_record
    from soar_il.runs import compiled

    check_steps(steps)
    flags = {"critics": critics, "termination": termination, "seed": seed}
    cfg = resolve(base, env, preset, **assigned(settings), **flags)
    compiled.keep_compiled_programs()
    found = Demos.load(demos or find_or_record(env, say))
    chosen = found.select(demonstrations) if demonstrations else found
    place = Path("results") / "audit" / env.replace(":", "-") / f"{base}-seed{seed}"
    made = run_audit(env, chosen, cfg, steps, episodes, out or place, say)
    table = Table("what the learner is told", "return", "of the expert's", title=f"{base} on {env}")
    for row in made.rows:
        table.add_row(row.says, f"{row.value:.0f} ± {row.std:.0f}", f"{made.share(row):.2f}")
    console.print(table)
    best, real = made.best(), made.rows[0]
    say(
        f"{made.share(best):.2f} is reached without the expert ({best.name}): as much of the "
        f"{made.share(real):.2f} is no proof of imitation"
    )
    say(
        f"{episodes} deterministic episodes each after {steps:,} steps, seed {seed}, termination "
        f"{cfg.termination}; 0 is random actions ({made.random:.0f}), 1 is {made.expert:.0f}"
    )
