"""Tasks to explore in, and who shows how they are done."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from soar_il import Demos
from soar_il.envs import exploration
from soar_il.envs.blind import made
from soar_il.errors import ConfigError, DemoError
from soar_il.experts import record, scripted

OWN = "soar_il.envs.exploration:"
TASKS = {  # what a random policy and the scripted expert return at most and at least
    f"{OWN}Lock-v0": (10, 60),
    f"{OWN}Lock-v0(gates=4, size=6)": (25, 65),
    f"{OWN}SwingUp-v0": (80, 170),
    f"{OWN}SwingUp-v0(force=8.0)": (80, 150),
    f"{OWN}Maze-v0": (1, 140),
    f"{OWN}Maze-v0(detour=2.0)": (1, 100),
    "MountainCarContinuous-v0": (0, 85),
    "Pendulum-v1": (-800, -300),
    "Reacher-v5": (-30, -12),
}


def returned(env, act, seed):
    seen, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        action = np.asarray(act(seen), np.float32)
        seen, reward, terminated, truncated, _ = env.step(action)
        total, over = total + reward, terminated or truncated
    return total


@pytest.mark.parametrize("name", TASKS)
def test_the_scripted_expert_does_what_chance_does_not(name):
    chance, least = TASKS[name]
    env, (controller, _) = made(name), scripted.find(name)
    rng = np.random.default_rng(0)
    space = env.action_space
    random = [returned(env, lambda _: rng.uniform(space.low, space.high), n) for n in range(3)]
    assert np.mean(random) < chance
    assert np.mean([returned(env, controller, seed) for seed in range(3)]) > least


@pytest.mark.parametrize("name", exploration.KINDS)
def test_gymnasium_finds_nothing_wrong_with_them(name):
    check_env(gym.make(f"{OWN}{name}").unwrapped, skip_render_check=True)


def test_a_lock_opens_to_one_direction_and_slips_back_from_every_other():
    env = exploration.Lock(gates=3, size=4)
    env.reset(seed=0)
    began = env.place
    env.step(env.right[0])
    assert env.place == pytest.approx(began + env.speed)
    env.step(-env.right[0])
    assert env.place == pytest.approx(began + env.speed - env.slip)
    for _ in range(100):
        env.step(env.right[min(int(env.place), 2)])
    assert env.step(-env.right[0])[1] == 1.0  # who is through it stays


def test_the_goal_of_the_maze_is_behind_a_wall():
    """Straight on is no way, whatever the detour; the longer it is, the later one is there."""
    straight = [returned(made(f"{OWN}Maze-v0"), lambda seen: [1.0, 0.0], n) for n in range(2)]
    assert straight == [0.0, 0.0]
    short, long = (
        returned(made(f"{OWN}Maze-v0(detour={d})"), scripted.maze(d), 0) for d in (0.5, 2.0)
    )
    assert short - long == pytest.approx(2 * 1.5 / exploration.Maze.pace, abs=3)


def test_demonstrations_of_a_script_are_recorded_at_first_use(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    said = []
    path = record.find_or_record("Pendulum-v1", said.append)
    assert "16 of the scripted expert" in said[0]
    assert path == record.find_or_record("Pendulum-v1", said.append)
    assert len(said) == 1
    demos = Demos.load(path)
    assert len(demos) == 160  # of 16 episodes of 200 steps, every 20th transition
    assert set(demos.lengths) == {1}


def test_what_has_no_script_or_other_arguments_is_refused():
    with pytest.raises(DemoError, match="no scripted expert"):
        record.of_script("HalfCheetah-v5", 1)
    with pytest.raises(ConfigError, match="does not know its arguments"):
        scripted.find(f"{OWN}Maze-v0(depth=3)")
