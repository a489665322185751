"""Videos: of an environment that paints itself, and of MuJoCo where there is a GL library."""

import os
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import imageio.v3 as iio
import numpy as np
import pytest
import tiny
import toys

from soar_il import Imitator, cli
from soar_il.envs.blind import BlindEnv
from soar_il.errors import EnvError
from soar_il.evaluation import rendering, video
from soar_il.networks import gaussian
from soar_il.policy import Policy


def trained(env, folder, demos, **more):
    """A run directory with a policy in it."""
    learner = {**tiny.LEARNER, **more.pop("learner", {})}
    with Imitator(
        env, demos, critics=2, folder=folder, learner=learner, cost=tiny.cost("ml-irl")
    ) as made:
        made.learn(60)
        made._run.keep_policy()
        made._run.checkpoint()
    return folder


def shown(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["soar", "video", *map(str, arguments)])
    cli.main()


@pytest.fixture(scope="module")
def painted(tmp_path_factory):
    return trained("points:Painted-v0", tmp_path_factory.mktemp("painted") / "run", tiny.demos())


def test_a_policy_is_shown_with_its_true_return(painted):
    path = max((painted / "snapshots").iterdir())
    policy = Policy.load(path)
    clip = video.of_policy(policy, "it", 7, 60)
    assert 2 <= len(clip.frames) <= toys.HORIZON + 1
    assert all(frame.shape == (320, 320, 3) for frame in clip.frames)
    assert not np.array_equal(clip.frames[0], clip.frames[-1])
    inner = gym.make(policy.env)
    env = BlindEnv(inner)
    observation, total, over = inner.reset(seed=7)[0], 0.0, False
    while not over:
        action = gaussian.play_mode(policy.layers, policy.view(observation))
        observation, reward, terminated, truncated, _ = inner.step(env.to_env(np.asarray(action)))
        total, over = total + reward, terminated or truncated
    assert f"return {total:,.0f}" in clip.title


def test_the_command_writes_a_film_and_says_what_is_beside(painted, tmp_path, monkeypatch, capsys):
    shown(monkeypatch, painted, "--out", tmp_path / "film.gif")
    said = " ".join(capsys.readouterr().out.split())
    assert "no expert of points:Painted-v0 is shipped" in said
    assert "showing the policy alone" in said
    frames = iio.imread(tmp_path / "film.gif")
    assert frames.shape[1:] == (360, 320, 3)
    assert len(frames) > 2


def test_a_clip_that_is_over_stands_still(painted):
    white = np.full((320, 320, 3), 255, np.uint8)
    long, short = video.Clip("a: b", [white] * 5), video.Clip("c: d", [white] * 2)
    frames = video.beside([long, short])
    assert len(frames) == 5
    assert frames[4][-1, 0, 0] == 255
    assert frames[4][-1, -1, 0] < 255
    assert frames[1][-1, -1, 0] == 255


ENCODE = """
from pathlib import Path
import imageio.v3, jax, numpy
from soar_il.evaluation import video
jax.devices()
path = video.write(Path("film"), [numpy.zeros((32, 32, 3), numpy.uint8)] * 5)
print(path, imageio.v3.imread(path).shape)
"""


def test_the_encoder_is_not_started_by_a_bare_fork(tmp_path):
    """In a process with JAX's threads that may hang, and JAX says so."""
    pytest.importorskip("imageio_ffmpeg")
    command = [sys.executable, "-c", ENCODE]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "film.mp4 (5, 32, 32, 3)\n"
    assert "fork" not in done.stderr


@pytest.mark.parametrize("name", ["film.avi", "film.mp4"])
def test_a_format_that_cannot_be_written_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.setattr(video.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EnvError, match=r"\.gif"):
        video.write(tmp_path / name, [np.zeros((4, 4, 3), np.uint8)])


def test_a_machine_without_gl_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(rendering, "TRY", "raise SystemExit(1)")
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    with pytest.raises(EnvError, match="apt-get install libosmesa6"):
        rendering.choose("Hopper-v5")
    rendering.choose("points:Painted-v0")  # which needs none
    monkeypatch.setenv("MUJOCO_GL", "egl")
    with pytest.raises(EnvError, match="MUJOCO_GL=egl cannot draw here"):
        rendering.choose("Hopper-v5")


def test_the_camera_follows_the_robot():
    env = video._drawable("Hopper-v5")
    model, number = env.unwrapped.model, env.unwrapped.mujoco_renderer.camera_id
    assert model.camera(number).name == "track"
    env.close()


def has_gl():
    try:
        rendering.choose("Hopper-v5")
    except EnvError:
        return False
    return True


def test_hopper_is_shown_beside_a_demonstration(tmp_path):
    """In a process of its own: the GL library is chosen once in a process."""
    before = os.environ.get("MUJOCO_GL")
    if not has_gl():
        pytest.skip(f"no GL library here: {rendering.PACKAGES}")
    backend = os.environ.pop("MUJOCO_GL")
    if before is not None:
        os.environ["MUJOCO_GL"] = before
    code = (
        "import gymnasium as gym, numpy as np, sys; sys.path[:0] = sys.argv[2:];"
        "import test_video;"
        "from soar_il import Demos; from soar_il.commands import video; from pathlib import Path;"
        "from soar_il.experts import shipped; shipped.cards = dict;"
        "env = gym.make('Hopper-v5'); states = [env.reset(seed=0)[0]];"
        "states += [env.step(env.action_space.sample() * 0)[0] for _ in range(30)];"
        "demos = Demos.from_arrays([np.stack(states)]); run = Path(sys.argv[1]) / 'run';"
        "test_video.trained('Hopper-v5', run, demos);"
        "video.video(run, run / 'film.gif', seconds=0.2)"
    )
    places = [str(tmp_path), *(str(Path(__file__).parents[up]) for up in (2, 1, 0))]
    environment = {**os.environ, "MUJOCO_GL": backend}
    done = subprocess.run(
        [sys.executable, "-c", code, *places], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    frames = iio.imread(tmp_path / "run" / "film.gif")
    assert frames.shape[1:] == (360, 640, 3)
    left, right = frames[0][60:, :320].astype(int), frames[0][60:, 320:].astype(int)
    assert left.std() > 20  # it is a picture
    assert np.abs(left - right).mean() < 40  # of the same robot, standing
