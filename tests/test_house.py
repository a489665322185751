"""The rules of the house that a machine can check."""

import ast
import graphlib
import re
import runpy
import tokenize
import tomllib
from pathlib import Path

import pytest

from soar_il.bases.api import Base, Clone, Look, Needs
from soar_il.learners.api import Algorithm

ROOT = Path(__file__).parent.parent
PACKAGE = sorted((ROOT / "soar_il").rglob("*.py"))
DOCS = sorted((ROOT / "docs").rglob("*.md"))
LAYERS = (
    {"errors", "rng", "optimism", "types"},
    {"config", "soar", "provenance", "files", "arrays", "seal"},
    {"policy"},
    {"terminal", "figures", "statistics", "demos", "envs", "networks"},
    {"bases"},
    {"learners"},
    {"engine", "configure"},
    {"build"},
    {"runs"},
    {"evaluation"},
    {"experts"},
    {"sweep", "audit"},
    {"report"},
    {"tabular"},
    {"callbacks"},
    {"agent", "commands"},
    {"cli"},
    {"__main__"},
)


def level(room):
    return next(number for number, layer in enumerate(LAYERS) if room in layer)


def room_of(path):
    """A folder of the package, or a file beside the folders; empty for the package itself."""
    return path.relative_to(ROOT / "soar_il").with_suffix("").parts[0].removeprefix("__init__")


def rooms_imported(path):
    """The other rooms that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports give the whole name"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("soar_il.")}
    return found - {room_of(path)}


@pytest.mark.parametrize("path", PACKAGE, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path):
    if not room_of(path):
        return
    for room in rooms_imported(path):
        assert level(room) <= level(room_of(path)), f"{path} imports {room}"


def test_no_two_rooms_import_each_other_by_whatever_way_round():
    """Also within a layer, where the test above looks at nothing."""
    graph = {}
    for path in PACKAGE:
        graph.setdefault(room_of(path), set()).update(rooms_imported(path))
    tuple(graphlib.TopologicalSorter(graph).static_order())  # an error where there is a cycle


@pytest.mark.parametrize("path", PACKAGE, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_fit_in_a_head(path):
    assert len(path.read_text().splitlines()) <= 350


def test_the_tests_lie_as_the_package_does_and_no_two_files_have_one_name():
    """A test of a room is in the folder of that name; pytest reads no file twice named."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    rooms = {path.parent.relative_to(ROOT / "tests") for path in files}
    assert [room for room in rooms if not (ROOT / "soar_il" / room).is_dir()] == []
    assert len({path.name for path in files}) == len(files)


def test_types_say_any_at_most_25_times_in_1000_lines():
    """Of code; comments and strings count as no line and no word."""
    beside = (tokenize.COMMENT, tokenize.STRING, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT)
    words, lines = 0, 0
    for path in PACKAGE:
        with path.open("rb") as file:
            tokens = [t for t in tokenize.tokenize(file.readline) if t.type not in beside]
        words += sum(token.string == "Any" for token in tokens)
        lines += len({token.start[0] for token in tokens})
    assert 1000 * words <= 25 * lines


def functions(path):
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


@pytest.mark.parametrize("path", DOCS, ids=lambda p: p.name)
def test_the_code_that_a_page_names_exists(path):
    """`soar_il/file.py:name` in the docs is a function or class of that file."""
    for file, name in re.findall(r"`(soar_il/[\w/]+\.py)(?::(\w+))?`", path.read_text()):
        assert (ROOT / file).exists(), file
        if name:
            assert name in functions(ROOT / file), f"{file}:{name}"


@pytest.mark.parametrize("tuple_", [Base, Needs, Clone, Look, Algorithm], ids=lambda t: t.__name__)
def test_the_page_on_new_methods_and_learners_has_every_field(tuple_):
    page = (ROOT / "docs" / "adding-a-base-method.md").read_text()
    rows = re.findall(r"^\| `(\w+)", page, re.M)
    assert set(tuple_._fields) <= set(rows)


def walkthrough_rows(title):
    text = (ROOT / "docs" / "walkthrough.md").read_text()
    section = text.split(f"## {title}")[1].split("\n## ")[0]
    return re.findall(r"^\| ([\d, -]+) \| .* \| .*`(soar_il/[\w/]+\.py):(\w+)`", section, re.M)


def numbers(cell):
    for part in cell.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("Algorithm 1", range(1, 12)),
        ("Algorithm 2", range(1, 18)),
        ("CostUpdateTabular", range(1, 9)),
        ("OptimisticQTabular", range(1, 4)),
        ("Base Method + SOAR", range(1, 19)),
        ("UpdateCritics", range(1, 14)),
        ("OptimisticQ-NN", range(1, 8)),
        ("UpdateCost for ML-IRL", range(1, 5)),
        ("UpdateCost for RKL", range(1, 8)),
        ("UpdateCost for CSIL", range(1, 3)),
    ],
)
def test_every_line_of_the_pseudocode_is_found_in_the_walkthrough(title, lines):
    found = [n for cell, _, _ in walkthrough_rows(title) for n in numbers(cell)]
    assert sorted(set(found)) == list(lines)


def test_soar_py_marks_the_lines_it_carries_out():
    text = (ROOT / "soar_il" / "soar.py").read_text()
    marked = [n for cell in re.findall(r"# lines? ([\d-]+)", text) for n in numbers(cell)]
    assert set(marked) == set(range(4, 12))


def test_the_notation_s_identifiers_are_in_their_files():
    rows = re.findall(
        r"^\| .+ \| `([\w.]+)` \| .+ \| `(soar_il/[\w/]+\.py)`",
        (ROOT / "docs" / "notation.md").read_text(),
        re.M,
    )
    assert len(rows) >= 20
    for identifier, file in rows:
        name = identifier.split(".")[-1]
        assert re.search(rf"\b{name}\b", (ROOT / file).read_text()), f"{name} in {file}"


def locked(name):
    lines = (ROOT / name).read_text().splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.+]+", line) for line in lines)
    return {line.split("==")[0].lower().replace("_", "-") for line in lines}


def names(needs):
    return {re.match(r"[\w-]+", needed)[0].lower() for needed in needs}


def test_the_locks_pin_versions_and_name_no_address():
    said = tomllib.loads((ROOT / "pyproject.toml").read_text())
    core, extras = locked("requirements.lock"), locked("extras.lock")
    assert names([*said["project"]["dependencies"], *said["dependency-groups"]["dev"]]) <= core
    optional = said["project"]["optional-dependencies"].values()
    assert names(x for needs in optional for x in needs) <= core | extras
    assert not core & extras


def test_the_readme_gives_the_two_commands_on_its_first_screen():
    first_screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:30])
    makefile = (ROOT / "Makefile").read_text()
    for target in ("run", "test"):
        assert f"make {target}" in first_screen
        assert re.search(rf"^{target}:", makefile, re.M)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_run(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for what they write
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_the_readme_s_python_runs(tmp_path, capsys, monkeypatch):
    """With few steps: what the many come to is a figure's business."""
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert "30_000" in block
    (tmp_path / "block.py").write_text(block.replace("30_000", "300"))
    runpy.run_path(str(tmp_path / "block.py"), run_name="__main__")
    assert capsys.readouterr().out
