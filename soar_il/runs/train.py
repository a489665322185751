"""Training as a user sees it: until so many steps, with checkpoints, snapshots and progress."""

import dataclasses
from collections.abc import Callable

from soar_il.errors import StorageError
from soar_il.runs.run import Run
from soar_il.types import Metrics


@dataclasses.dataclass(frozen=True)
class Keep:
    """How often what is written, in environment steps."""

    checkpoint: int = 10_000
    snapshot: int = 5_000


def train(
    run: Run,
    total: int,
    keep: Keep,
    on_iteration: Callable[[Metrics], bool | None],
    on_snapshot: Callable[[Run], None],
    shorten: bool = False,
) -> None:
    """Iterate until ``total`` steps; a callback that returns False stops it.

    With ``shorten`` the last iteration ends with the episode that reaches ``total``. Its state is
    then kept from before it too, so that a run that is given more steps later loses nothing.

    The policy it starts from is kept too: it may be a clone, and the curve begins there. Whatever
    ends it, an interruption or an error, the last finished iteration is kept. A full disk pauses
    it; only on the way out after an interruption is everything tried once. A method that takes no
    steps is done with that policy, whatever ``total`` is.
    """
    if not run.built.takes_steps:
        run.patiently(run.keep_policy)
        run.patiently(run.checkpoint)
        on_snapshot(run)
        return
    if run.steps >= total:
        return
    saved, before = run.k, run.steps
    run.total = total if shorten else None
    if run.k == 0:
        run.patiently(run.keep_policy)
        on_snapshot(run)
    ended = False
    try:
        for seen in run.iterate():
            last = run.steps >= total
            go_on = on_iteration(seen) is not False
            if last or not go_on or _passed(before, run.steps, keep.snapshot):
                run.patiently(run.keep_policy)
                on_snapshot(run)
            ahead = not last and run.k > saved and run.may_shorten()
            if ahead or _passed(before, run.steps, keep.checkpoint):
                saved = _try_checkpoint(run, saved)
            before = run.steps
            if last or not go_on:
                break
        ended = True
    finally:
        if run.k > saved:
            write = run.patiently if ended else _once
            if run.steps >= total or _passed(before, run.steps, keep.snapshot):
                write(run.keep_policy)  # or the curve would lack a point that another run has
            write(run.checkpoint)


def _once(write: Callable[[], object]) -> object:
    return write()


def _try_checkpoint(run: Run, saved: int) -> int:
    """A full disk is no reason to stop: the checkpoint before is intact, and the next may work."""
    try:
        run.checkpoint()
    except StorageError as error:
        run.say(f"warning: no checkpoint at iteration {run.k}: {error}")
        return saved
    return run.k


def _passed(before: int, now: int, every: int) -> bool:
    return every > 0 and now // every > before // every
