"""How the site is made of the Markdown that is here: the README is its first page."""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent


def on_config(config):
    """Every page of a method is in the list of methods, by its own title."""
    pages = sorted(p.name for p in (ROOT / "docs" / "methods").glob("*.md"))
    for section in config.nav:
        if "Methods" in section:
            section["Methods"] += [f"methods/{name}" for name in pages if name != "README.md"]
    return config


def on_files(files, config):
    """The README, and the examples that pages point to."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=text))
    for path in sorted((ROOT / "examples").iterdir()):
        if path.is_file():
            files.append(File.generated(config, f"examples/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links out of docs/ stay within the site where they can, else they are words."""
    markdown = markdown.replace("](../examples/", "](examples/")
    up = r"\[([^\]]+)\]\((?:\.\./)*(?:CONTRIBUTING|CHANGELOG|CITATION|LICENSE)[^)]*\)"
    return re.sub(up, r"\1", markdown)
