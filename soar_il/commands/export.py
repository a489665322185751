"""``soar export``: the policy of a run as one file that needs no run, no JAX and no simulator."""

import dataclasses
from pathlib import Path

from soar_il.commands.asked import Folder


def export(
    run_dir: Folder, out: Path | None = None, at: int | None = None, onnx: bool = False
) -> None:
    """Write the policy of a run as one file, with its card; Policy.load reads it anywhere.

    Args:
        run_dir: The run directory.
        out: The file to write; by default policy.safetensors in the run directory.
        at: The policy after so many steps; by default the last one.
        onnx: Also write it as ONNX beside, checked with onnxruntime (needs soar-il[onnx]).
    """
    from soar_il.errors import ConfigError
    from soar_il.experts.record import policy_of
    from soar_il.policy import onnx as graphs
    from soar_il.runs import log
    from soar_il.terminal.progress import console

    policy = policy_of(run_dir, at)
    target = out or run_dir / "policy.safetensors"
    if target.suffix != ".safetensors":
        raise ConfigError(f"ends in {target.suffix!r}", str(target), "end it in .safetensors")
    scores = {record["k"]: record for record in log.read(run_dir / "scores.jsonl")}
    names = ("return", "return_std", "episodes", "evaluation_seed")
    if measured := scores.get(policy.k):
        about = policy.about | {"returns": {name: measured[name] for name in names}}
        policy = dataclasses.replace(policy, about=about)
    policy.save(target)
    console.print(f"{target}: {policy!r}", soft_wrap=True, markup=False)
    if onnx:
        graph = target.with_suffix(".onnx")
        apart = graphs.save(graph, policy)
        text = f"{graph}: onnxruntime's actions are NumPy's to {apart:.1g}"
        console.print(text, soft_wrap=True, markup=False)
