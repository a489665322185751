"""A ``State`` as arrays with names, as a checkpoint stores it, and back."""

import jax
import numpy as np

from soar_il.errors import SoarError
from soar_il.soar import State
from soar_il.types import Tree


def small(state: State) -> State:
    """What a checkpoint keeps of it: all but the data, which the segments have."""
    k: Tree = np.int64(state.k)
    return state._replace(k=k, data=())


def named(tree: Tree) -> dict[str, np.ndarray]:
    """Every array of a tree by its place in it."""
    leaves = jax.tree_util.tree_leaves_with_path(jax.device_get(tree))
    return {jax.tree_util.keystr(path): np.asarray(x) for path, x in leaves}


def filled(template: Tree, arrays: dict[str, np.ndarray], where: str) -> Tree:
    """The tree with the stored arrays as its leaves."""
    leaves, treedef = jax.tree_util.tree_flatten_with_path(template)
    filled = []
    for path, leaf in leaves:
        name = jax.tree_util.keystr(path)
        stored = arrays.get(name)
        if stored is None or stored.shape != np.shape(leaf) or len(arrays) != len(leaves):
            raise SoarError(
                f"the checkpoint does not fit this run at {name}",
                where,
                "was the base method or its settings changed?",
            )
        filled.append(jax.device_put(stored, may_alias=False) if path[0].name != "k" else stored)
    return jax.tree_util.tree_unflatten(treedef, filled)
