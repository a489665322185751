"""The project tried as five kinds of new users would: their commands, one after the other.

``python tests/trial.py [USER ...]`` runs them as they are written, each kind in an empty
folder (minutes); commands/test_users.py runs them with tiny networks and few steps.
"""

import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
SMALL = (
    "--set learner.hidden=[8] learner.inverse_hidden=[8] learner.batch=8 "
    "learner.iteration_steps=60 learner.random_steps=60 learner.capacity=4096 "
    "cost.hidden=[8] cost.batch=8"
)

# A line is a command and, behind ``->``, words that it has to print. {steps}, {small} and {few} are
# empty or as the manual has them, unless it is the short form.
USERS = {
    "student": """
        soar --version -> soar-il
        soar settings ml-irl -> learner.critics
        soar train --env Hopper-v5 --critics 4 {steps} {small} -> policy handed out
        soar eval results/Hopper-v5/ml-irl-L4-seed0 {few} -> deterministic
        soar eval results/Hopper-v5/ml-irl-L4-seed0 {few} --json -> "return"
        soar resume results/Hopper-v5/ml-irl-L4-seed0 -> has its
        soar report results/Hopper-v5/ml-irl-L4-seed0 -> index.html
    """,
    "engineer": """
        python your_environment.py -> 16 trajectories
        soar demos check Reach2D-v0.demos --env your_environment:Reach2D-v0 -> by 8 of 8 checks
        soar train --env your_environment:Reach2D-v0 {steps} {small} -> policy handed out
        soar train --env your_environment:Reach2D-v0 --env-args wind=0.3 --demos Reach2D-v0.demos \
--critics 2 {steps} {small} -> wind=0.3
        soar demos record --run results/Reach2D-v0/ml-irl-L4-seed0 --out again.npz -> again.npz
        soar demos convert again.npz again.demos -> again.demos
        soar video results/Reach2D-v0/ml-irl-L4-seed0 --stages 2 --seconds 1 --out it.gif -> it.gif
    """,
    "researcher": """
        python your_environment.py -> 16 trajectories
        soar sweep your_environment.toml --dry-run -> ml-irl-L4-seed0: new
        soar sweep your_environment.toml -> runs: results/your_environment
        soar sweep your_environment.toml -> runs: results/your_environment
        soar report results/your_environment --expert-return -10 -> 0 missing
    """,
    "habits": """
        python your_environment.py -> 16 trajectories
        python habits.py -> the same policy again
    """,
    "elsewhere": """
        soar sweep --list -> state-only
        soar sweep first --dry-run -> ml-irl-L1-seed0: new
        soar demos info Hopper-v5 -> trajectories
        soar expert table -> Hopper-v5
        soar tabular --critics 1 2 --seeds 2 --iterations 20 -> ablation.png
    """,
}

HABITS = """
import numpy as np, your_environment
from soar_il import Demos, Imitator
from soar_il.callbacks import Callback

class Count(Callback):
    seen = 0
    def on_iteration(self, imitator, seen):
        self.seen += 1

count = Count()
small = dict(hidden=[8], inverse_hidden=[8], batch=8, iteration_steps=60, random_steps=60)
env, demos, cost = "Reach2D-v0", Demos.load("Reach2D-v0.demos"), dict(hidden=[8], batch=8)
with Imitator(env, demos[:8], critics=2, n_envs=2, learner=small, cost=cost) as model:
    model.learn(total_timesteps=120, callback=[count], progress_bar=False)
    action, state = model.predict(np.zeros(6), state=None, episode_start=None, deterministic=False)
    again, _ = model.predict(np.zeros(6), deterministic=False)
    assert not np.array_equal(action, again)
    model.save("kept")
    model.save("kept")
    mode, returns = model.predict(np.zeros(6))[0], model.evaluate(episodes=1)["return"]
loaded = Imitator.load("kept")
assert np.array_equal(loaded.predict(np.zeros(6))[0], mode) and count.seen
loaded.close()
print("the same policy again", loaded, returns)
"""


def lines(user, short):
    """(command, words) of a user."""
    words = {"steps": "--steps 60 --episodes 1", "small": SMALL, "few": "--episodes 1"}
    told = words if short else {"steps": "--steps 5000", "small": "", "few": ""}
    for line in USERS[user].strip().splitlines():
        command, _, expected = line.strip().partition(" -> ")
        yield shlex.split(command.format(**told)), expected


def prepare(folder, short):
    """The files that a user brings along."""
    for name in ("your_environment.py", "your_environment.toml"):
        shutil.copy(ROOT / "examples" / name, folder)
    (folder / "habits.py").write_text(HABITS)
    if short:
        sweep = folder / "your_environment.toml"
        small = "\n".join(x.replace("=", " = ", 1) for x in SMALL.split()[1:])
        text = sweep.read_text().replace("5_000", "60").replace("[0, 1, 2]", "[0]")
        sweep.write_text(text.replace("[options]", f"[options]\nepisodes = 1\n{small}"))


def main():
    for user in sys.argv[1:] or USERS:
        folder = Path(tempfile.mkdtemp(prefix=f"trial-{user}-"))
        prepare(folder, short=False)
        for command, words in lines(user, short=False):
            program = {"soar": [sys.executable, "-m", "soar_il"], "python": [sys.executable]}
            began = time.perf_counter()
            made = [*program[command[0]], *command[1:]]
            done = subprocess.run(made, cwd=folder, capture_output=True, text=True)
            good = done.returncode == 0 and words in done.stdout
            print(
                f"{'ok' if good else 'FAILED'} {time.perf_counter() - began:6.1f} s  {user}: ",
                end="",
            )
            print(shlex.join(command), flush=True)
            if not good:
                print(done.stdout[-2000:], done.stderr[-2000:])
                sys.exit(1)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
