"""In the first iteration each part says what it does; later ones are counted in steps."""

from collections.abc import Callable
from typing import Any

from soar_il.soar import Parts
from soar_il.terminal.phases import phase

WORDS = {
    "collect": "the first episodes",
    "update_cost": "compiling the update of the cost",
    "improve": "compiling the updates of critics and policy, then making the first",
}


def told(parts: Parts) -> Parts:
    """Parts that say, the first time they are called, what they do."""
    return parts._replace(**{name: _once(getattr(parts, name), WORDS[name]) for name in WORDS})


def _once(part: Callable[..., Any], text: str) -> Callable[..., Any]:
    left = [text]

    def spoken(*given: Any) -> Any:
        if left:
            phase(left.pop())
        return part(*given)

    return spoken
