"""Moving pictures of a policy, of an expert, of a demonstration, side by side."""

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import imageio.v3 as iio
import numpy as np
from PIL import Image, ImageDraw

from soar_il.envs.blind import made
from soar_il.envs.play import episode
from soar_il.envs.scored import scored
from soar_il.errors import EnvError
from soar_il.policy import Policy
from soar_il.runs.snapshot import act as play_policy

HEIGHT, STRIP, FPS = 320, 40, 25
COLOURS = 64  # of a GIF


class Clip(NamedTuple):
    """Frames at FPS, with a line above them."""

    title: str
    frames: list[np.ndarray]


def of_policy(policy: Policy, title: str, seed: int, seconds: float) -> Clip:
    """An episode of the policy's mode, with its true return."""
    drawn = _drawable(policy.env)
    env, log = scored(drawn, policy.view.horizon)
    every, rate = _pace(drawn)
    frames: list[np.ndarray] = []

    def act(seen: np.ndarray, step: int) -> np.ndarray:
        if step % every == 0 and step < seconds * rate:
            frames.append(_frame(drawn))
        return play_policy(policy, seen)

    tau = episode(env, act, seed)
    env.close()
    steps = len(tau.actions)
    return Clip(f"{title}: return {sum(log.rewards):,.0f}, {steps:,} steps", frames)


def of_demonstration(env: str, observations: np.ndarray, seconds: float) -> Clip | None:
    """The demonstrated states, one by one; None where observations do not tell the whole state."""
    drawn = _drawable(env)
    inner: Any = drawn.unwrapped
    parts = getattr(inner, "observation_structure", None)
    if not parts or not hasattr(inner, "set_state"):
        drawn.close()
        return None
    every, rate = _pace(drawn)
    drawn.reset(seed=0)
    frames = []
    skipped, size = parts["skipped_qpos"], parts["qpos"]
    at = np.zeros(skipped)  # observations leave out where it is: that follows from how fast it goes
    for step, seen in enumerate(observations[: int(seconds * rate)]):
        speed = seen[size : size + parts["qvel"]]
        if step % every == 0:
            inner.set_state(np.concatenate([at, seen[:size]]), speed)
            frames.append(_frame(drawn))
        at = at + speed[:skipped] * inner.dt
    drawn.close()
    return Clip(f"a demonstration: {len(observations) - 1:,} steps", frames)


def beside(clips: Sequence[Clip]) -> list[np.ndarray]:
    """One picture for each moment; a clip that is over stands still, dimmed."""
    length = max(len(clip.frames) for clip in clips)
    return [np.concatenate([_titled(clip, n) for clip in clips], axis=1) for n in range(length)]


def write(path: Path, frames: Sequence[np.ndarray]) -> Path:
    """MP4 where there is an encoder, else GIF; the path that was written."""
    if path.suffix not in ("", ".mp4", ".gif"):
        raise EnvError(f"is a {path.suffix} file", str(path), "name it .mp4 or .gif")
    coder = importlib.util.find_spec("imageio_ffmpeg") is not None
    if path.suffix == ".mp4" and not coder:
        do = "pip install 'soar-il[video]', or name it .gif"
        raise EnvError("there is no encoder for MP4", str(path), do)
    if not path.suffix:
        path = path.with_suffix(".mp4" if coder else ".gif")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".mp4":
        # Else the encoder is started by a bare fork, which may hang beside JAX's threads.
        os.environ.setdefault("IMAGEIO_FFMPEG_NO_PREVENT_SIGINT", "1")
        iio.imwrite(path, np.stack(frames), fps=FPS, codec="libx264", macro_block_size=2)
    else:
        _write_gif(path, frames)
    return path


def _write_gif(path: Path, frames: Sequence[np.ndarray]) -> None:
    """Every second frame, in the colours of three of them: a page has room for a few megabytes."""
    images = [Image.fromarray(frame) for frame in frames[::2]]
    three = np.concatenate([frames[n] for n in (0, len(frames) // 2, -1)])
    palette = Image.fromarray(three).quantize(COLOURS)
    first, *rest = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    first.save(path, save_all=True, append_images=rest, duration=2000 // FPS, loop=0)


def _drawable(env: str) -> gym.Env:
    """Seen by the camera that follows the robot, where there is one."""

    plain = made(env, render_mode="rgb_array")
    model: Any = getattr(plain.unwrapped, "model", None)
    if model is None or "track" not in [model.camera(n).name for n in range(model.ncam)]:
        return plain
    plain.close()
    return made(env, render_mode="rgb_array", camera_name="track")


def _frame(env: gym.Env) -> np.ndarray:
    made: Any = env.render()
    if not isinstance(made, np.ndarray) or made.ndim != 3:
        raise EnvError("makes no pictures", str(env), "give it a render_mode of rgb_array")
    image = Image.fromarray(made)
    width = round(image.width * HEIGHT / image.height / 2) * 2  # encoders want even sizes
    return np.asarray(image.resize((width, HEIGHT), Image.Resampling.BILINEAR))


def _pace(env: gym.Env) -> tuple[int, float]:
    """Every how many steps a frame is due, and steps a second."""
    rate = float(env.metadata.get("render_fps", FPS))
    return max(1, round(rate / FPS)), rate


def _titled(clip: Clip, n: int) -> np.ndarray:
    over = n >= len(clip.frames)
    frame = clip.frames[min(n, len(clip.frames) - 1)]
    strip = Image.new("RGB", (frame.shape[1], STRIP), "white")
    words, _, rest = clip.title.partition(": ")
    draw = ImageDraw.Draw(strip)
    draw.text((6, 4), words, fill="black")
    draw.text((6, 20), f"{rest}{' (over)' if over else ''}", fill="#555555")
    shown = frame // 2 + 96 if over else frame
    return np.concatenate([np.asarray(strip), shown.astype(np.uint8)])
