"""``soar video``: a policy beside the expert."""

from pathlib import Path
from typing import TYPE_CHECKING

from soar_il.commands.asked import Folder
from soar_il.errors import ConfigError
from soar_il.terminal.progress import say

if TYPE_CHECKING:
    from soar_il.evaluation.video import Clip


def video(
    run_dir: Folder,
    out: Path | None = None,
    seed: int = 1,
    seconds: float = 20.0,
    stages: int = 1,
) -> None:
    """Show the last policy of a run beside the expert, without a screen.

    It is shown beside the environment's shipped expert; if there is none, beside a demonstration of
    the run; if that cannot be drawn, alone. MP4 with the extra soar-il[video], otherwise GIF.

    Args:
        run_dir: The run directory.
        out: The file to write (.mp4 or .gif); by default video.mp4 or video.gif in the run.
        seed: The seed of the episode.
        seconds: The greatest length of the video, in the environment's own time.
        stages: How many policies of the run to show, from its first to its last.
    """
    from soar_il.evaluation import rendering
    from soar_il.evaluation import video as films
    from soar_il.policy import Policy
    from soar_il.runs.origin import read_config

    cfg = read_config(run_dir)
    paths = sorted((run_dir / "snapshots").glob("*.safetensors"))
    if not paths:
        raise ConfigError("no policy has been kept yet", str(run_dir), "train it first")
    rendering.choose(cfg.env)
    soar = f" + SOAR (L = {cfg.learner.critics})" if cfg.learner.critics > 1 else ""
    clips = []
    for path in spread(paths, stages):
        policy = Policy.load(path)
        say(f"drawing the policy after {policy.steps:,} steps")
        named = f"{cfg.base}{soar} after {policy.steps:,} steps"
        clips.append(films.of_policy(policy, named, seed, seconds))
    clips += _other(run_dir, cfg.env, seed, seconds)
    written = films.write(out or run_dir / "video", films.beside(clips))
    say(f"video: {written}")


def spread(paths: list[Path], stages: int) -> list[Path]:
    """So many of them, evenly from the first to the last; the last alone for one."""
    if stages < 1:
        raise ConfigError(f"stages is {stages}", do="give at least 1")
    count = min(stages, len(paths))
    places = (
        [round(n * (len(paths) - 1) / (count - 1)) for n in range(count)] if count > 1 else [-1]
    )
    return [paths[n] for n in places]


def _other(run_dir: Path, env: str, seed: int, seconds: float) -> "list[Clip]":
    """What to compare with; says what it is, and why nothing better."""
    from soar_il.demos import Demos
    from soar_il.evaluation import video as films
    from soar_il.experts import shipped

    if env in shipped.cards():
        expert, _ = shipped.expert(env)
        return [films.of_policy(expert, "expert", seed, seconds)]
    say(f"no expert of {env} is shipped: showing a demonstration beside the policy")
    if (run_dir / "demos.demos").exists():
        demos = Demos.load(run_dir / "demos.demos")
        clip = films.of_demonstration(env, demos.observations[0], seconds)
        if clip is not None:
            return [clip]
        say(f"observations of {env} do not tell its whole state: showing the policy alone")
    return []
