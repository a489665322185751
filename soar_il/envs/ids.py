"""Names of environments: ``Reach2D-v0``, ``reach2d:Reach2D-v0``, ``Reach2D-v0(size=3)``.

What stands before a colon is a module that is imported first, one of the current folder or an
installed one. What stands in brackets is given to the environment by name, in TOML's notation.
"""

import json
import re
import tomllib
from typing import Any

from soar_il.errors import ConfigError
from soar_il.files import Fields

Arguments = Fields
PARTS = re.compile(r"(?P<id>[^()]*)(?:\((?P<inner>.*)\))?", re.DOTALL)


def parse(env: str) -> tuple[str, Arguments]:
    """The id as Gymnasium knows it, with its module, and the arguments."""
    found = PARTS.fullmatch(env)
    if found is None:
        raise ConfigError(f"is no name of an environment: {env!r}", do="write Own-v0(size=3)")
    if not found["inner"]:
        return found["id"], {}
    try:
        return found["id"], tomllib.loads(f"x = {{{found['inner']}}}")["x"]
    except tomllib.TOMLDecodeError as error:
        do = "write NAME=VALUE, as TOML has values: Own-v0(size=3, map='small', wind=true)"
        raise ConfigError(f"the arguments cannot be read ({error})", env, do) from None


def compose(env: str, arguments: Arguments) -> str:
    """The name of this environment with these arguments, and those that it had."""
    name, before = parse(env)
    both = before | arguments
    inner = ", ".join(f"{key}={_toml(both[key])}" for key in sorted(both))
    return f"{name}({inner})" if both else name


def without_module(env: str) -> str:
    """``Reach2D-v0`` of ``reach2d:Reach2D-v0``, which Gymnasium imports before it looks."""
    name, _, inner = env.partition("(")
    return name.rpartition(":")[2] + ("(" + inner if inner else "")


def file_name(env: str) -> str:
    """What a file or folder of this environment is called: no colons, brackets or spaces."""
    return re.sub(r"[^\w.+=-]+", "-", without_module(env)).strip("-")


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}={_toml(x)}' for key, x in value.items())}}}"
    return json.dumps(value) if isinstance(value, str | bool) else repr(value)
