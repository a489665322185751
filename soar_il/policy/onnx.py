"""A policy's mode as an ONNX graph: observations in the environment's units to actions in them."""

from pathlib import Path
from typing import Any

import numpy as np

from soar_il import files
from soar_il.errors import ConfigError, StorageError
from soar_il.policy.forward import NORM_EPSILON
from soar_il.policy.policy import Policy
from soar_il.policy.sight import CLIP

OPSET = 17
CLOSE = 1e-5
ROWS = 256
FAR = 3.0  # how many standard deviations from the mean the rows of the check go


class Graph:
    """Nodes and constants, one after the other; each step gives the name of what it made."""

    def __init__(self, helper: Any, numpy_helper: Any) -> None:
        self.helper, self.numpy_helper = helper, numpy_helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(self.numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def then(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"x{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, list(inputs), [name], **attributes))
        return name


def save(path: Path, policy: Policy) -> float:
    """Write the graph, once onnxruntime gives NumPy's actions to 1e-5; the largest difference."""
    try:
        import onnxruntime
    except ImportError:
        raise _missing() from None
    data = graph(policy)
    rows = _rows(policy)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"observation": rows})
    apart = float(np.abs(found - policy.predict(rows)[0]).max())
    if not apart <= CLOSE:
        what = f"onnxruntime's actions differ from NumPy's by {apart:.2g}"
        raise StorageError(what, str(path), "report it: nothing was written")
    files.write_atomically(path, data)
    return apart


def graph(policy: Policy) -> bytes:
    """The graph, with the policy's card among its properties."""
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise _missing() from None
    made = Graph(helper, numpy_helper)
    _acting(made, policy, _seen(made, policy, "observation"))
    made.nodes[-1].output[0] = "action"
    size = _size(policy)
    kinds = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", width])
        for name, width in (("observation", size), ("action", len(policy.low)))
    ]
    content = helper.make_graph(made.nodes, "policy", kinds[:1], kinds[1:], made.constants)
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(content, opset_imports=[opset], ir_version=8, producer_name="soar-il")
    helper.set_model_props(model, {name: str(value) for name, value in policy.card.items()})
    return model.SerializeToString()


def _seen(made: Graph, policy: Policy, x: str) -> str:
    """``Sight.__call__``."""
    view = policy.view
    if view.observed:
        bounds = [made.constant([n], np.int64) for n in (0, view.observed, 1)]
        x = made.then("Slice", x, *bounds)
    if view.mean.size:
        x = made.then(
            "Div", made.then("Sub", x, made.constant(view.mean)), made.constant(view.scale)
        )
        x = made.then("Clip", x, made.constant(-CLIP), made.constant(CLIP))
    if view.termination == "absorbing":
        x = made.then("Pad", x, made.constant([0, 0, 0, 1], np.int64))
    return x


def _acting(made: Graph, policy: Policy, x: str) -> None:
    """``forward.actions`` and ``Policy.to_env``."""
    for w, b in policy.layers[:-1]:
        x = made.then("Add", made.then("MatMul", x, made.constant(w)), made.constant(b))
        if policy.activation == "normed_relu":
            x = _normed(made, x)
        x = made.then("Relu", x)
    w, b = (np.split(part, 2, axis=-1)[0] for part in policy.layers[-1])
    x = made.then(
        "Tanh", made.then("Add", made.then("MatMul", x, made.constant(w)), made.constant(b))
    )
    low, high = policy.low.astype(np.float64), policy.high.astype(np.float64)
    x = made.then("Mul", x, made.constant((high - low) / 2))
    x = made.then("Add", x, made.constant((high + low) / 2))
    made.then("Min", made.then("Max", x, made.constant(policy.low)), made.constant(policy.high))


def _normed(made: Graph, x: str) -> str:
    """``forward.normed_relu`` before the ReLU."""
    mean = made.then("ReduceMean", x, axes=[-1], keepdims=1)
    apart = made.then("Sub", x, mean)
    variance = made.then("ReduceMean", made.then("Mul", apart, apart), axes=[-1], keepdims=1)
    spread = made.then("Sqrt", made.then("Add", variance, made.constant(NORM_EPSILON)))
    return made.then("Div", apart, spread)


def _size(policy: Policy) -> int:
    """Coordinates of an observation."""
    return policy.observation_size or policy.seen_size


def _rows(policy: Policy) -> np.ndarray:
    """Observations around those of the demonstrations."""
    rows = np.random.default_rng(0).standard_normal((ROWS, _size(policy)), np.float32)
    rows *= FAR
    if policy.view.mean.size:
        seen = len(policy.view.mean)
        rows[:, :seen] = rows[:, :seen] * policy.view.scale + policy.view.mean
    return rows


def _missing() -> ConfigError:
    return ConfigError(
        "onnx and onnxruntime are not installed", do="pip install 'soar-il[onnx]', or go without"
    )
