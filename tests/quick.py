"""A minute of tests for whoever changes code: ``make quick``.

The rules of the house, settings, the arithmetic of every room, and of one method everything: its
bits, no leak of the reward, to be saved and to go on.
"""

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
WHOLE = (
    *("test_house.py", "test_config.py", "test_optimism.py", "test_rng.py", "test_mutants.py"),
    *("networks", "envs/test_view.py", "envs/test_blind.py", "learners/test_backup.py"),
    *("engine/test_replay.py", "statistics/test_stats.py", "runs/test_storage_files.py"),
    *("tabular/test_mdp.py", "demos/test_demos_format.py", "demos/test_demos_fit.py"),
    "sweep/test_experiments.py",
)
CASES = (
    "test_golden.py::test_the_bits_are_those_that_were_recorded[ml-irl, L=4]",
    "test_golden.py::test_the_bits_are_those_that_were_recorded[tabular]",
    "envs/test_leak.py::test_the_reward_and_info_of_the_environment_reach_nothing[ml-irl-4]",
    "runs/test_resume.py::test_save_and_load_go_on_exactly[ml-irl]",
    "bases/test_bases.py::test_the_expert_becomes_cheaper_than_the_learner[ml-irl-tuned]",
)
TOO_LONG = (
    "test_house.py::test_examples_run",
    "test_house.py::test_the_readme_s_python_runs",
)


def main():
    asked = [str(TESTS / name) for name in (*WHOLE, *CASES)]
    left_out = [f"--deselect=tests/{name}" for name in TOO_LONG]
    sys.exit(pytest.main([*asked, *left_out, *sys.argv[1:]]))


if __name__ == "__main__":
    main()
