"""``soar video``: a policy beside the expert."""

from pathlib import Path
from typing import TYPE_CHECKING

from soar_il.commands.deep import Folder, say
from soar_il.errors import ConfigError

if TYPE_CHECKING:
    from soar_il.evaluation.video import Clip


def video(run_dir: Folder, out: Path | None = None, seed: int = 1, seconds: float = 20.0) -> None:
    """Show the last policy of a run beside the expert, without a screen.

    Beside the shipped expert of the environment, else beside a demonstration of the run, else
    alone. MP4 with the extra soar-il[video], GIF without.

    Args:
        run_dir: The run directory.
        out: The file to write (.mp4 or .gif); by default video.mp4 or video.gif in the run.
        seed: Of the episode's start.
        seconds: The longest it may be, in the environment's own time.
    """
    from soar_il.evaluation import rendering
    from soar_il.evaluation import video as films
    from soar_il.runs import snapshot
    from soar_il.runs.run import read_config

    cfg = read_config(run_dir)
    paths = sorted((run_dir / "snapshots").glob("*.safetensors"))
    if not paths:
        raise ConfigError("no policy has been kept yet", str(run_dir), "train it first")
    rendering.choose(cfg.env)
    last = snapshot.load(paths[-1])
    soar = f" + SOAR (L = {cfg.learner.critics})" if cfg.learner.critics > 1 else ""
    named = f"{cfg.base}{soar} after {last.steps:,} steps"
    clips = [films.of_policy(last, named, seed, seconds)]
    clips += _other(run_dir, cfg.env, seed, seconds)
    written = films.write(out or run_dir / "video", films.beside(clips))
    say(f"video: {written}")


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
