"""Mistakes made on purpose, one at a time, and the test that fails at each: ``mutants.toml``.

    python tests/mutants.py                  # all that were not tried yet
    python tests/mutants.py --only optimism  # one kind
    python tests/mutants.py --again          # also those that were tried
    python tests/mutants.py --share 0.1      # every tenth, the first of each kind included

It writes docs/log/mutants.md, unless it is asked for a share. What was found is kept in
results/mutants.json too, so that it can be stopped and goes on.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
FOUND = ROOT / "results" / "mutants.json"
PAGE = ROOT / "docs" / "log" / "mutants.md"
SECONDS = 900
FIRST = ["pytest", "jax", "optax", "gymnasium", "scipy.stats", "safetensors.numpy"]
HEAD = """# Mistakes made on purpose

Each line of `tests/mutants.toml` spoils one line of soar_il; `make mutants` runs the tests that are
to notice it, and writes this page.

"""


class Mutant(NamedTuple):
    kind: str
    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def name(self):
        """The same as long as the mistake and its tests are."""
        return hashlib.sha256(repr(tuple(self)).encode()).hexdigest()[:16]


def mutants():
    """All of the list, in its order."""
    listed = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())
    return [
        Mutant(kind, x["what"], x["file"], x["old"], x["new"], tuple(x["tests"]))
        for kind, many in listed.items()
        for x in many
    ]


def sample(share):
    """So many of every kind, spread evenly over the list: 1 is all of it, 0.1 every tenth."""
    kept, due = [], {}
    for mutant in mutants():
        due[mutant.kind] = due.get(mutant.kind, 1.0)
        if due[mutant.kind] >= 1 - 1e-9:
            kept.append(mutant)
            due[mutant.kind] -= 1
        due[mutant.kind] += share
    return kept


def chosen(test, tests=ROOT / "tests"):
    """What pytest is asked for: the file, wherever it is, and a part of names."""
    name, _, part = test.partition(":")
    (path,) = tests.rglob(f"{name}.py")
    return path, part


def spoilt(source, mutant):
    """The file's text with the mistake in it."""
    if source.count(mutant.old) != 1:
        raise ValueError(f"{mutant.what}: its line is {source.count(mutant.old)} times in the file")
    return source.replace(mutant.old, mutant.new)


def tried(mutant, scratch):
    """The test that fails, or nothing if all of them pass."""
    path = scratch / "soar_il" / mutant.file
    sound = path.read_text()
    path.write_text(spoilt(sound, mutant))
    try:
        for test in mutant.tests:
            failed = failing(*chosen(test, scratch / "tests"), scratch)
            if failed:
                return failed
        return ""
    finally:
        path.write_text(sound)


def failing(path, part, scratch):
    """The first test of a file that fails."""
    said = scratch / "said"
    process = multiprocessing.get_context("forkserver").Process(
        target=asked_of_pytest, args=(scratch, said, [str(path), *(["-k", part] if part else [])])
    )
    process.start()
    process.join(SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
        return f"{path.name}: does not end"
    text = said.read_text()
    named = re.findall(r"^(?:FAILED|ERROR) \S*?([^\s/]+\.py::[^\s\[]+)", text, re.M)
    if process.exitcode == 1 and named:
        return named[0]
    if process.exitcode == 0 or (process.exitcode == 5 and " skipped in " in text):
        return ""
    raise RuntimeError(f"{path.name} -k {part!r} could not be run:\n{text[-3000:]}")


def asked_of_pytest(scratch, said, tests):
    """In a process of its own, which has imported all but soar_il."""
    out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.chdir(scratch)
    sys.path[:0] = [str(scratch), str(scratch / "tests")]
    assert "soar_il" not in sys.modules
    sys.exit(int(pytest.main(["-x", "-n", "0", "-rfE", "-p", "no:cacheprovider", *tests])))


def page(found):
    """The list as a page, survivors first."""
    listed = [m for m in mutants() if m.name in found]
    alive = [m for m in listed if not found[m.name]]
    said = f"{len(listed)} mistakes, {len(listed) - len(alive)} noticed, {len(alive)} not.\n\n"
    rows = ["| kind | mistake | file | noticed by |", "|---|---|---|---|"]
    for m in [*alive, *(m for m in listed if found[m.name])]:
        noticed = f"`{found[m.name]}`" if found[m.name] else "**nothing**"
        rows.append(f"| {m.kind} | {m.what} | `soar_il/{m.file}` | {noticed} |")
    return HEAD + said + "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--share", type=float, default=1.0)
    asked = parser.parse_args()
    found = json.loads(FOUND.read_text()) if FOUND.exists() else {}
    FOUND.parent.mkdir(exist_ok=True)
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(ROOT / ".compiled"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    multiprocessing.set_forkserver_preload(FIRST)
    with tempfile.TemporaryDirectory() as place:
        scratch = Path(place)
        for name in ("soar_il", "tests", "docs", "experiments", "benchmarks"):
            shutil.copytree(ROOT / name, scratch / name)
        for name in ("pyproject.toml", "requirements.lock", "Makefile", "README.md"):
            shutil.copy(ROOT / name, scratch)
        for mutant in sample(asked.share):
            known = mutant.name in found and not asked.again
            if known or (asked.only and mutant.kind not in asked.only):
                continue
            found[mutant.name] = tried(mutant, scratch)
            print(f"{mutant.kind}: {mutant.what}: {found[mutant.name] or 'SURVIVES'}", flush=True)
            FOUND.write_text(json.dumps(found, indent=1) + "\n")
    if asked.share >= 1:
        PAGE.write_text(page(found))
        print(f"written: {PAGE}")
    alive = [m for m in sample(asked.share) if found.get(m.name) == ""]
    sys.exit(f"{len(alive)} survive" if alive else 0)


if __name__ == "__main__":
    main()
