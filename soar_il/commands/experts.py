"""``soar expert``: policies trained on the true reward, for demonstrations and for comparison."""

from pathlib import Path
from typing import Annotated

import tyro

from soar_il.commands.asked import assigned, check_episodes, check_steps
from soar_il.commands.deep import Assignments, Folder, go, say, show, started
from soar_il.envs.ids import file_name
from soar_il.terminal.progress import console

Env = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="ENV")]


def train(
    env: Env,
    steps: int = 1_000_000,
    seed: int = 0,
    preset: str = "tuned",
    settings: Assignments = (),
    out: Path | None = None,
    evaluate_every: int = 20_000,
    episodes: int = 10,
    checkpoint_every: int = 50_000,
    tensorboard: bool = False,
) -> None:
    """Train an expert: SAC on the environment's own reward. `soar resume` goes on with it.

    Args:
        env: A Gymnasium id with flat continuous spaces.
        steps: Environment steps.
        seed: Of every random draw.
        preset: tuned, paper, or a TOML file of your own.
        settings: More settings, such as learner.batch=100.
        out: The run directory; by default results/experts/<env>-seed<seed>.
        evaluate_every: Environment steps between evaluations of the policy; 0 for none.
        episodes: Episodes of an evaluation, deterministic and stochastic each.
        checkpoint_every: Environment steps between checkpoints.
        tensorboard: Also write TensorBoard events (needs the extra soar-il[tensorboard]).
    """
    check_steps(steps)
    check_episodes(episodes)
    say(f"making {env}")
    from soar_il.experts import sac
    from soar_il.runs.run import Run

    cfg = sac.resolve(env, preset, **assigned(settings), seed=seed)
    folder = out or Path("results") / "experts" / f"{file_name(env)}-seed{seed}"
    run = Run.create(folder, cfg, env, None, say=say, make=sac.build)
    show(cfg, preset, sac.resolve(env, preset, seed=seed))
    plan = started(run, steps, evaluate_every, episodes, checkpoint_every, tensorboard)
    go(run, plan)


def keep(run_dir: Folder, out: Path = Path("policies"), episodes: int = 64) -> None:
    """Keep the best policy of an expert's run, with a card that says what it is.

    The best by the evaluations of the run; its return is then measured on episodes of its own.

    Args:
        run_dir: The run directory of `soar expert train`.
        out: Where the policy and its card go.
        episodes: Episodes of the measurement.
    """
    from soar_il.experts import shipped

    card = shipped.keep(run_dir, out, episodes)
    console.print(
        f"{card['file']}: {card['env']} after {card['steps']:,} steps, return "
        f"{card['return']:.0f} ± {card['return_std']:.0f} over {card['episodes']} episodes"
    )


def curves(out: Path = Path("results") / "experts") -> None:
    """Draw how the shipped experts were trained, beside the paper's.

    Args:
        out: The folder for the figure, as SVG and PNG.
    """
    from soar_il import files
    from soar_il.config import package_toml
    from soar_il.experts import shipped
    from soar_il.figures.training import experts_figure

    files.make_dir(out)
    paper = package_toml("experts/paper.toml")
    console.print(f"{experts_figure(shipped.cards(), paper, out / 'experts')}", soft_wrap=True)


def table(episodes: int = 64, seed: int = 2) -> None:
    """The paper's expert table, with the shipped experts measured beside it.

    Args:
        episodes: Episodes for each expert, deterministic.
        seed: Of the evaluation.
    """
    from rich.table import Table

    from soar_il.experts import shipped

    shown = Table("environment", "random", "paper", "ours", "length", "steps", "seed")
    for row in shipped.table(episodes, seed):
        ours = f"{row.returns.mean():.0f} ± {row.returns.std():.0f}"
        paper = "-" if row.paper is None else f"{row.paper:.0f}"
        random = f"{row.random.mean():.0f} ± {row.random.std():.0f}"
        length, card = f"{row.lengths.mean():.0f}", row.card
        shown.add_row(row.env, random, paper, ours, length, f"{card['steps']:,}", str(card["seed"]))
    console.print(shown)
    console.print(f"deterministic, {episodes} episodes, evaluation seed {seed}; mean ± std")
