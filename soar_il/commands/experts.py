"""``soar expert``: policies trained on the true reward, for demonstrations and for comparison."""

from pathlib import Path
from typing import Annotated

import tyro

from soar_il.commands.asked import Assignments, Folder, assigned, check_episodes, check_steps
from soar_il.commands.train import go, show, started
from soar_il.envs.ids import file_name
from soar_il.terminal.progress import console, say

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
        seed: The seed of all random draws.
        preset: tuned, paper, or a TOML file of your own.
        settings: More settings, such as learner.batch=100.
        out: The run directory; by default results/experts/<env>-seed<seed>.
        evaluate_every: Environment steps between evaluations of the policy; 0 for none.
        episodes: Episodes of an evaluation: so many deterministic, and so many stochastic.
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

    The best is that of the highest return in the run's evaluations. Its return is then measured
    again, on other episodes.

    Args:
        run_dir: The run directory of `soar expert train`.
        out: The folder for the policy and its card.
        episodes: Episodes to measure its return with.
    """
    from soar_il.experts import shipped

    card = shipped.keep(run_dir, out, episodes)
    console.print(
        f"{card['file']}: {card['env']} after {card['steps']:,} steps, return "
        f"{card['return']:.0f} ± {card['return_std']:.0f} over {card['episodes']} episodes"
    )


def curves(out: Path = Path("results") / "experts") -> None:
    """Draw the training curves of the shipped experts, with the paper's returns.

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
    """Measure the shipped experts and show their returns beside the paper's.

    Args:
        episodes: Deterministic episodes for each expert.
        seed: The seed of the evaluation.
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
