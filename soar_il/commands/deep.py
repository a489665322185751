"""``soar train``, ``resume``, ``eval`` and ``fingerprint``: runs on continuous control."""

import dataclasses
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from soar_il.errors import ConfigError
from soar_il.terminal.progress import console

if TYPE_CHECKING:
    from soar_il.configure import Config
    from soar_il.evaluation.times import Moment
    from soar_il.runs.run import Run

Assignments = Annotated[  # --set A --set B and --set A B
    tuple[tuple[str, ...], ...],
    tyro.conf.arg(metavar="NAME=VALUE", name="set"),
    tyro.conf.UseAppendAction,
]
Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]


def train(
    demos: Path | None = None,
    env: str = "Hopper-v5",
    base: str = "ml-irl",
    critics: int | None = None,
    sigma: float | None = None,
    steps: int = 50_000,
    seed: int = 0,
    demonstrations: int = 0,
    termination: Literal["absorbing", "fixed", "early"] | None = None,
    preset: str = "tuned",
    settings: Assignments = (),
    out: Path | None = None,
    evaluate_every: int = 5_000,
    episodes: int = 10,
    checkpoint_every: int = 10_000,
    tensorboard: bool = False,
) -> None:
    """Train a policy from demonstrations alone.

    The run directory keeps settings, metrics, policies and checkpoints; `soar resume` goes on.

    Args:
        demos: Demonstrations: a .demos folder or an .npz file; by default <env>.demos here, or what
            comes with the package (Hopper-v5).
        env: A Gymnasium id with flat continuous spaces.
        base: The base method, for example ml-irl (states only) or ml-irl-sa (states and actions).
        critics: L, the number of pairs of critics; 1 is the base method without SOAR.
        sigma: The largest standard deviation that optimism may subtract.
        steps: Environment steps, every one counted; the last iteration is finished.
        seed: Of every random draw.
        demonstrations: How many trajectories to use, from the first; 0 for all.
        termination: What the end of an episode means: absorbing, fixed or early.
        preset: tuned, paper, or a TOML file of your own.
        settings: More settings, such as learner.alpha=0.1 or cost.batch=64.
        out: The run directory; by default results/<env>/<base>-L<L>-seed<seed>.
        evaluate_every: Environment steps between evaluations of the policy; 0 for none.
        episodes: Episodes of an evaluation, deterministic and stochastic each.
        checkpoint_every: Environment steps between checkpoints.
        tensorboard: Also write TensorBoard events (needs the extra soar-il[tensorboard]).
    """
    from soar_il.configure import resolve
    from soar_il.demos import Demos
    from soar_il.evaluation import times
    from soar_il.experts.record import find_or_record
    from soar_il.runs.run import Run

    began = times.now()

    check_steps(steps)
    say(f"loading demonstrations of {env}")
    flags = {"critics": critics, "sigma": sigma, "termination": termination, "seed": seed}
    flags["demonstrations"] = demonstrations
    cfg = resolve(base, env, preset, **assigned(settings), **flags)
    usual = resolve(base, env, preset, seed=seed)
    name = f"{base}-L{cfg.learner.critics}-seed{seed}"
    folder = out or Path("results") / env.replace(":", "-") / name
    check_empty(folder)
    found = Demos.load(demos or find_or_record(env, say))
    show(cfg, preset, usual)
    run = Run.create(folder, cfg, env, found, say=say)
    plan = started(run, steps, evaluate_every, episodes, checkpoint_every, tensorboard)
    go(run, plan, began)


def resume(run_dir: Folder, steps: int | None = None, allow_drift: bool = False) -> None:
    """Go on with a run from its newest checkpoint, exactly as if it had not stopped.

    Args:
        run_dir: The run directory.
        steps: Another total of environment steps.
        allow_drift: Go on although versions or threads are others; the bits may differ then.
    """
    from soar_il.evaluation import times
    from soar_il.runs import plans

    began, plan = times.now(), plans.read(run_dir)
    if steps is not None:
        check_steps(steps)
        plan["steps"] = steps
    run = _resumed(run_dir, allow_drift)
    say(f"resuming at iteration {run.k}, {run.steps:,} of {plan['steps']:,} steps")
    go(run, plan, began)


def evaluate(
    run_dir: Folder,
    episodes: int = 64,
    seed: int = 1,
    last: bool = True,
    at: Annotated[tuple[int, ...], tyro.conf.arg(metavar="STEPS [STEPS ...]")] = (),
) -> None:
    """The true return of a run's policies, on environments of its own.

    Args:
        run_dir: The run directory.
        episodes: Episodes for each policy, deterministic and stochastic each.
        seed: Of the evaluation; training cannot see it.
        last: Only the last policy, or every snapshot.
        at: Instead the snapshots after these numbers of steps, 0 for the start.
    """
    from rich.live import Live
    from rich.table import Table

    from soar_il.evaluation.score import Evaluator
    from soar_il.policy import Policy
    from soar_il.runs.origin import read_config

    cfg = read_config(run_dir)
    paths = sorted((run_dir / "snapshots").glob("*.safetensors"))
    if not paths:
        raise ConfigError("no policy has been kept yet", str(run_dir), "train it first")
    policies = [Policy.load(path) for path in (paths[-1:] if last and not at else paths)]
    kept = {policy.steps: policy for policy in policies}
    if not kept.keys() >= set(at):
        raise ConfigError(
            f"no policy was kept at {', '.join(f'{n:,}' for n in at if n not in kept)} steps",
            str(run_dir),
            f"give some of {', '.join(map(str, kept))}",
        )
    evaluator = Evaluator(cfg.env, episodes, cfg.horizon or None, seed)
    console.print(f"termination {cfg.termination}, {episodes} episodes, evaluation seed {seed}")
    table = Table("steps", "deterministic", "stochastic", "length", "normalised")
    with Live(table, console=console):
        for policy in [kept[n] for n in at] or policies:
            r = evaluator.record(policy)
            normal = f"{r['normalised']:.2f}" if "normalised" in r else "-"
            table.add_row(
                f"{r['steps']:,}",
                f"{r['return']:.0f} ± {r['return_std']:.0f}",
                f"{r['stochastic_return']:.0f} ± {r['stochastic_return_std']:.0f}",
                f"{r['length']:.0f}",
                normal,
            )


def fingerprint(run_dir: Folder, allow_drift: bool = False) -> None:
    """SHA-256 over all that learning has produced, at the newest checkpoint.

    Args:
        run_dir: The run directory.
        allow_drift: Although versions or threads are others.
    """
    run = _resumed(run_dir, allow_drift)
    print(run.fingerprint())
    run.close()


def _resumed(folder: Path, allow_drift: bool) -> "Run":
    """An imitator's run or an expert's, from its newest checkpoint."""
    from soar_il.experts import sac
    from soar_il.runs.origin import read_config
    from soar_il.runs.run import Run

    make = sac.build if read_config(folder, verify=False).base == sac.NAME else None
    return Run.resume(folder, allow_drift=allow_drift, say=say, make=make)


def started(
    run: "Run", steps: int, evaluate_every: int, episodes: int, checkpoint_every: int, board: bool
) -> dict[str, Any]:
    """What `soar resume` will need to know."""
    from soar_il.runs import plans

    plan = {"steps": steps, "evaluate_every": evaluate_every, "episodes": episodes}
    plan |= {"checkpoint_every": checkpoint_every, "tensorboard": board}
    plans.write(run.folder, plan)
    return plan


def go(run: "Run", plan: dict[str, Any], began: "Moment | None" = None) -> None:
    """Train to the plan's end, with progress and evaluation."""
    from soar_il.commands.watch import Watch
    from soar_il.runs import compiled
    from soar_il.runs.train import Keep
    from soar_il.runs.train import train as train_run
    from soar_il.terminal.training import TrainingProgress

    compiled.keep_compiled_programs()
    total, every = plan["steps"], plan["evaluate_every"]
    keep = Keep(plan["checkpoint_every"], every or 5_000)
    with Watch(run, plan["episodes"] if every else 0, plan["tensorboard"], began) as watch:
        watch.catch_up()
        with TrainingProgress(run.steps, total) as progress:

            def on_iteration(seen: dict[str, Any]) -> None:
                progress.score = watch.last
                progress.update(seen)
                watch.iteration(seen)

            try:
                train_run(run, total, keep, on_iteration, lambda run: watch.catch_up())
            except KeyboardInterrupt as stop:
                raise type(stop)(
                    f"stopped after {run.steps:,} of {total:,} steps, and all of them are kept; "
                    f"go on with: soar resume {run.folder}"
                ) from None
        watch.finish()


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


def flat(nested: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """learner.alpha and so on, by their whole names."""
    named: dict[str, Any] = {}
    for name, value in nested.items():
        inner = flat(value, f"{prefix}{name}.") if isinstance(value, dict) else None
        named |= {f"{prefix}{name}": value} if inner is None else inner
    return named


def assigned(settings: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    """learner.alpha=0.1 as a nested mapping; values as TOML has them, or plain words."""
    import tomllib

    nested: dict[str, Any] = {}
    for setting in chain.from_iterable(settings):
        name, equals, text = setting.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set {setting}", do="write NAME=VALUE, such as learner.alpha=0.1")
        try:
            value = tomllib.loads(f"x = {text}")["x"]
        except (tomllib.TOMLDecodeError, RecursionError):
            value = text
        *path, last = name.split(".")
        inner = nested
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return nested


OURS = {"output.txt", "failed.json"}  # what a sweep writes into a job's folder beforehand


def check_empty(folder: Path) -> None:
    """A run is not mixed with somebody's files."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError("is a file", str(folder), "name another folder with --out")
    others = sorted(p.name for p in folder.glob("*") if p.name not in OURS)
    if others and "config.json" not in others:
        what = f"is not empty: {', '.join(others[:3])}"
        raise ConfigError(what, str(folder), "name another folder with --out")


def check_steps(steps: int) -> None:
    if steps < 1:
        raise ConfigError(f"steps is {steps}", do="give at least 1")


def say(text: str) -> None:
    console.print(text, markup=False, soft_wrap=True)
