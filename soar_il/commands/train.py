"""``soar train``: a new run, and how any run is trained to its end."""

import dataclasses
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from soar_il.commands.asked import (
    Arguments,
    Assignments,
    Keys,
    assigned,
    check_boards,
    check_empty,
    check_episodes,
    check_steps,
)
from soar_il.commands.notices import warnings_printed
from soar_il.config import Termination, flat
from soar_il.envs.ids import compose, file_name
from soar_il.files import Fields
from soar_il.terminal import phases
from soar_il.terminal.progress import console, say

if TYPE_CHECKING:
    from soar_il.configure import Config
    from soar_il.evaluation.times import Moment
    from soar_il.runs.run import Run


def train(
    demos: Path | None = None,
    env: str = "Hopper-v5",
    env_args: Arguments = (),
    base: str = "ml-irl",
    critics: int | None = None,
    sigma: float | None = None,
    steps: int = 50_000,
    seed: int = 0,
    demonstrations: int = 0,
    termination: Termination | None = None,
    preset: str = "tuned",
    settings: Assignments = (),
    out: Path | None = None,
    evaluate_every: int = 5_000,
    episodes: int = 10,
    checkpoint_every: int = 10_000,
    tensorboard: bool = False,
    wandb: str = "",
    quiet: bool = False,
    keys: Keys = "",
) -> None:
    """Train a policy from demonstrations alone.

    Settings, metrics, policies and checkpoints are written to the run directory. After an
    interruption `soar resume` continues.

    Args:
        demos: Demonstrations: a .demos folder or an .npz file; by default <env>.demos here, or what
            comes with the package (Hopper-v5).
        env: A Gymnasium id with continuous spaces; own:Own-v0 imports own.py of this folder first.
        env_args: Arguments of the environment's constructor, such as size=3 wind=true.
        base: The base method, for example ml-irl (states only) or ml-irl-sa (states and actions).
        critics: L, the number of pairs of critics; 1 is the base method without SOAR.
        sigma: The clip value: the most that optimism subtracts from the critics' mean.
        steps: Environment steps in all. The run ends with the episode that reaches this number. A
            method that only clones takes none.
        seed: The seed of all random draws.
        demonstrations: Use only so many trajectories, from the first; 0 for all.
        termination: How the end of an episode is treated: absorbing, fixed or early.
        preset: tuned, paper, or a TOML file of your own.
        settings: More settings, such as learner.alpha=0.1; `soar settings` lists them.
        out: The run directory; by default results/<env>/<base>-L<L>-seed<seed>.
        evaluate_every: Environment steps between evaluations of the policy; 0 for none.
        episodes: Episodes of an evaluation: so many deterministic, and so many stochastic.
        checkpoint_every: Environment steps between checkpoints.
        tensorboard: Also write TensorBoard events (needs the extra soar-il[tensorboard]).
        wandb: Also log to this project of Weights & Biases (needs the extra soar-il[wandb]).
        quiet: Print errors and warnings only.
        keys: What demos calls the arrays: observations=state,actions=u,ends=episode_ends.
    """
    check_episodes(episodes)
    check_boards(tensorboard, wandb)
    console.quiet = quiet
    env = compose(env, assigned(env_args))
    say(f"loading demonstrations of {env}")
    from soar_il.build import takes_steps
    from soar_il.configure import resolve
    from soar_il.demos import Demos
    from soar_il.demos.named import parse_keys
    from soar_il.evaluation import times
    from soar_il.experts.record import find_or_record
    from soar_il.runs import compiled
    from soar_il.runs.run import Run

    compiled.keep_compiled_programs()
    began = times.now()
    flags = {"critics": critics, "sigma": sigma, "termination": termination, "seed": seed}
    flags["demonstrations"] = demonstrations
    cfg = resolve(base, env, preset, **assigned(settings), **flags)
    usual = resolve(base, env, preset, seed=seed)
    if takes_steps(cfg):
        check_steps(steps)
    else:
        say(f"{base} takes no environment steps; it clones the demonstrations")
        steps = 0
    name = f"{base}-L{cfg.learner.critics}-seed{seed}"
    folder = out or Path("results") / file_name(env) / name
    check_empty(folder)
    with warnings_printed():
        found = Demos.load(demos or find_or_record(env, say), parse_keys(keys))
    show(cfg, preset, usual)
    with phases.shown() as line, phases.heard_by(line, phases.noted(folder)):
        run = Run.create(folder, cfg, env, found, say=say)
    plan = started(run, steps, evaluate_every, episodes, checkpoint_every, tensorboard, wandb)
    go(run, plan, began)


def started(
    run: "Run",
    steps: int,
    evaluate_every: int,
    episodes: int,
    checkpoint_every: int,
    tensorboard: bool,
    wandb: str = "",
) -> Fields:
    """What `soar resume` will need to know."""
    from soar_il.runs import plans

    plan: Fields = {"steps": steps, "evaluate_every": evaluate_every, "episodes": episodes}
    plan |= {"checkpoint_every": checkpoint_every, "tensorboard": tensorboard, "wandb": wandb}
    plans.write(run.folder, plan)
    return plan


def go(run: "Run", plan: Fields, began: "Moment | None" = None) -> None:
    """Train to the plan's end, with progress and evaluation."""
    from soar_il.evaluation.watch import Watch
    from soar_il.runs import boards, compiled
    from soar_il.runs.train import Keep
    from soar_il.runs.train import train as train_run
    from soar_il.terminal.training import TrainingProgress

    compiled.keep_compiled_programs()
    total, every = plan["steps"], plan["evaluate_every"]
    keep = Keep(plan["checkpoint_every"], every or 5_000)
    events = run.folder / "tensorboard" if plan["tensorboard"] else None
    writers = boards.opened(run.folder, events, plan.get("wandb", ""))
    episodes = plan["episodes"] if every else 0
    with closing(run), Watch(run, episodes, writers, began) as watch:
        watch.catch_up()
        progress = TrainingProgress(run.steps, total)
        with progress, phases.heard_by(progress.phase, phases.noted(run.folder)):

            def on_iteration(seen: Fields) -> None:
                progress.score = watch.last
                progress.update(seen)
                watch.iteration(seen)
                (run.folder / phases.NAME).unlink(missing_ok=True)

            try:
                train_run(
                    run, total, keep, on_iteration, lambda run: watch.catch_up(), shorten=True
                )
            except KeyboardInterrupt as stop:
                raise type(stop)(
                    f"stopped after {run.steps:,} of {total:,} steps, and all of them are kept; "
                    f"go on with: soar resume {run.folder}"
                ) from None
        watch.finish()
        (run.folder / phases.NAME).unlink(missing_ok=True)


def show(cfg: "Config", preset: str, usual: "Config") -> None:
    """What is run, and which settings are not those of its preset."""
    say(
        f"{cfg.base} on {cfg.env}, L = {cfg.learner.critics}, seed {cfg.seed}, termination "
        f"{cfg.termination}, preset {preset} (all settings: soar settings {cfg.base})"
    )
    now, then = (flat(dataclasses.asdict(x)) for x in (cfg, usual))
    changed = [f"{name} = {now[name]}" for name in now if now[name] != then.get(name)]
    if changed:
        say(f"changed: {', '.join(changed)}")
