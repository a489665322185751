"""The guard: a state with a NaN or an infinity is never handed on."""

import jax
import jax.numpy as jnp

from soar_il.errors import NonFiniteError
from soar_il.types import Metrics, Tree


@jax.jit
def _finite(tree: Tree) -> Tree:
    return jax.tree.map(lambda x: jnp.all(jnp.isfinite(x)), tree)


def require_finite(tree: dict[str, Tree], seen: Metrics) -> None:
    """Every array of the tree and every metric is finite, or an error names those that are not."""
    flags = jax.device_get(_finite((tree, seen)))
    named = jax.tree_util.tree_leaves_with_path({**flags[0], "metrics": flags[1]})
    bad = [jax.tree_util.keystr(p, simple=True, separator=".") for p, fine in named if not fine]
    if bad:
        groups: dict[str, list[str]] = {}
        for name in bad:
            groups.setdefault(".".join(name.split(".")[:2]), []).append(name)
        raise NonFiniteError(
            f"no longer finite: {', '.join(n for names in groups.values() for n in names[:3])}",
            do="the state before is kept; try a smaller learning_rate, look at the inputs' scale",
        )
