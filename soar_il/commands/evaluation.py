"""``soar eval``: what a run's policies are worth."""

import json
from typing import Annotated

import tyro

from soar_il.commands.asked import Folder
from soar_il.errors import ConfigError
from soar_il.terminal.progress import console


def evaluate(
    run_dir: Folder,
    episodes: int = 64,
    seed: int = 1,
    last: bool = True,
    at: Annotated[tuple[int, ...], tyro.conf.arg(metavar="STEPS [STEPS ...]")] = (),
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> None:
    """Measure the true return of a run's policies.

    Args:
        run_dir: The run directory.
        episodes: Episodes for each policy: so many deterministic, and so many stochastic.
        seed: The seed of the evaluation; training never uses these episodes.
        last: Evaluate only the last policy; otherwise every snapshot.
        at: Evaluate the snapshots after these numbers of steps instead; 0 is the start.
        as_json: Print a line of JSON for each policy, as scores.jsonl has them, and nothing else.
    """
    if episodes < 1:
        raise ConfigError(f"episodes is {episodes}", do="give at least 1")
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
    chosen = [kept[n] for n in at] or policies
    evaluator = Evaluator(cfg.env, episodes, cfg.horizon or None, seed)
    if as_json:
        for policy in chosen:
            print(json.dumps(evaluator.record(policy)), flush=True)
        return
    console.print(f"termination {cfg.termination}, {episodes} episodes, evaluation seed {seed}")
    table = Table("steps", "deterministic", "stochastic", "length", "normalised")
    with Live(table, console=console):
        for policy in chosen:
            r = evaluator.record(policy)
            normal = f"{r['normalised']:.2f}" if "normalised" in r else "-"
            table.add_row(
                f"{r['steps']:,}",
                f"{r['return']:.0f} ± {r['return_std']:.0f}",
                f"{r['stochastic_return']:.0f} ± {r['stochastic_return_std']:.0f}",
                f"{r['length']:.0f}",
                normal,
            )
