"""What ``soar demos`` does."""

import warnings
from pathlib import Path
from typing import Annotated

import tyro
from rich.markup import escape
from rich.table import Table

from soar_il.commands.asked import Keys
from soar_il.commands.notices import notice, warnings_printed
from soar_il.demos import align, store, summary
from soar_il.demos import convert as sources
from soar_il.demos.alone import notices
from soar_il.demos.check import examine, raise_first
from soar_il.demos.format import Demos
from soar_il.demos.named import parse_keys
from soar_il.errors import DemoError, DemoWarning
from soar_il.terminal.progress import console

Place = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DEMOS")]
FILES = ("*.demos", "*.npz", "*.hdf5", "*.h5")


def list_(folder: Annotated[Path, tyro.conf.Positional] = Path()) -> None:
    """List the demonstrations in a folder.

    Args:
        folder: Where to look for .demos folders, .npz and .hdf5 files.
    """
    if not folder.is_dir():
        raise DemoError("is not a folder", str(folder), "give the folder that holds them")
    found = sorted(path for kind in FILES for path in folder.glob(kind))
    if not found:
        console.print(
            f"no .demos folder, .npz or .hdf5 file in {folder}", soft_wrap=True, markup=False
        )
        return
    shown = Table("name", "trajectories", "transitions", "environment")
    for path in found:
        try:
            shown.add_row(path.name, *_row(path))
        except DemoError as error:
            shown.add_row(path.name, "-", "-", escape(f"cannot be used: {error.what}"))
    console.print(shown)


def _row(path: Path) -> tuple[str, str, str]:
    if path.suffix == ".demos":
        said = store.manifest(path)
        counts = (said.get("trajectories"), said.get("transitions"))
        about = said["about"]
    else:
        with warnings.catch_warnings(action="ignore", category=DemoWarning):
            demos = Demos.load(path)
        counts, about = (len(demos), demos.transitions), demos.about
    return str(counts[0]), str(counts[1]), escape(str(about.get("env", "?")))


def info(path: Place, env: str | None = None, plot: Path | None = None, keys: Keys = "") -> None:
    """Show what demonstrations contain.

    Args:
        path: A .demos folder, an .npz or .hdf5 file, or a Minari id or folder.
        env: A Gymnasium id whose bounds the values are compared with.
        plot: Where to save a figure (.png or .svg).
        keys: What the file calls the arrays: observations=state,actions=u,ends=episode_ends.
    """
    with warnings_printed():
        demos = Demos.load(path, parse_keys(keys))
    console.print(summary.table(summary.info(demos, env), escape(path.name)))
    for each in notices(demos):
        notice(each)
    if plot is not None:
        console.print(
            f"figure: {summary.figure(demos, plot, path.name)}", soft_wrap=True, markup=False
        )


def check(path: Place, env: str, strict: bool = False, keys: Keys = "") -> None:
    """Check whether demonstrations can be from an environment; stop at what cannot be right.

    Args:
        path: A .demos folder, an .npz or .hdf5 file, or a Minari id or folder.
        env: The Gymnasium id.
        strict: Also stop at notices, which are only suspicions.
        keys: What the file calls the arrays: observations=state,actions=u,ends=episode_ends.
    """
    with warnings_printed(without=tuple(what for what, _ in align.SAID.values())):
        demos = Demos.load(path, parse_keys(keys))
    checks = examine(demos, env)
    found = [notice for made in checks for notice in made.found]
    if strict:
        raise_first(found)
    for suspicion in found:
        notice(suspicion)
    made = [each.name for each in checks if not each.lacking]
    console.print(f"checked: {', '.join(made)}", soft_wrap=True, markup=False)
    for each in checks:
        if each.lacking:
            console.print(f"not checked: {each.name}: {each.lacking}", soft_wrap=True, markup=False)
    fits = f"fits {env} by {len(made)} of {len(checks)} checks"
    verdict = f"could be of {env}, with {len(found)} notice(s)" if found else fits
    console.print(f"{path}: {demos!r} {verdict}", soft_wrap=True, markup=False)


def convert(
    source: Annotated[str, tyro.conf.Positional],
    target: Annotated[Path, tyro.conf.Positional],
    shift: int = 0,
    actions: Path | None = None,
    env: str | None = None,
    who: str | None = None,
    keys: Keys = "",
    overwrite: bool = False,
) -> None:
    """Convert demonstrations to soar-il's format, or from it to .npz.

    Args:
        source: A .npz, .npy, .hdf5 or .demos path, or the id or folder of a local Minari dataset.
        target: A .demos folder or an .npz file to write.
        shift: 0 if row t holds (s_t, a_t); 1 if it holds (s_{t+1}, a_t).
        actions: The .npy file with the actions, if the source is an .npy file.
        env: The environment's id, to be noted in the file.
        who: Who the expert is, to be noted in the file.
        keys: What the file calls the arrays: observations=state,actions=u,ends=episode_ends.
        overwrite: Replace the target if it exists.
    """
    with warnings_printed():
        demos = sources.read(source, shift, actions, parse_keys(keys))
    said = {key: value for key, value in (("env", env), ("who", who)) if value is not None}
    demos = Demos(demos.observations, demos.actions, demos.terminated, demos.about | said)
    written = demos.save(target, overwrite)
    console.print(f"{written}: {demos!r}", soft_wrap=True, markup=False)


def record(
    env: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[ENV]")] = None,
    run: Path | None = None,
    at: int | None = None,
    out: Path | None = None,
    trajectories: int = 64,
    deterministic: bool = True,
    seed: int = 0,
    overwrite: bool = False,
) -> None:
    """Record demonstrations of a shipped or scripted expert, or of a policy that was trained here.

    Args:
        env: The environment's id; `soar expert table` lists the shipped experts.
        run: A run directory instead of an environment: record its last policy.
        at: With a run: record its policy after that many steps instead of the last.
        out: A .demos folder or an .npz file to write; by default <env>.demos.
        trajectories: How many trajectories to record.
        deterministic: Take the policy's mode at each step; otherwise draw from it.
        seed: The seed of start states and draws; the same seed gives the same trajectories.
        overwrite: Replace the file if it exists.
    """
    from soar_il.envs.ids import file_name
    from soar_il.experts import record as recorder
    from soar_il.experts import scripted, shipped

    if (env is None) == (run is None):
        raise DemoError(
            "needs an environment or a run" if env is None else "takes an environment or a run",
            "soar demos record",
            "write `soar demos record Hopper-v5` or `soar demos record --run DIR`",
        )
    by_hand = env is not None and file_name(env) not in shipped.cards() and scripted.find(env)
    if run is not None:
        policy = recorder.policy_of(run, at)
        about: dict[str, object] = {"who": f"run {run.resolve().name}"}
    elif not by_hand:
        policy, card = shipped.expert(str(env))
        about = {"expert_sha256": card["sha256"]}
    target = out or Path(f"{file_name(str(env) if by_hand else policy.env)}.demos")
    if target.exists() and not overwrite:
        raise DemoError("exists", str(target), "choose another --out, or give --overwrite")
    if by_hand:
        made = recorder.of_script(str(env), trajectories, seed)
    else:
        made = recorder.record(policy, trajectories, deterministic, seed, about=about)
    written = made.demos.save(target, overwrite)
    mean, std = made.returns.mean(), made.returns.std()
    console.print(f"{written}: {made.demos!r}", soft_wrap=True, markup=False)
    console.print(f"return {mean:.0f} ± {std:.0f} (not stored), seed {seed}")
