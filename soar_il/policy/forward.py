"""The forward pass of a policy in NumPy; `soar_il/networks/gaussian.py` is the same in JAX."""

from collections.abc import Callable

import numpy as np

Layers = tuple[tuple[np.ndarray, np.ndarray], ...]  # weights [in, out] and biases [out]
LOG_STD = (-20.0, 2.0)
NORM_EPSILON = 1e-5


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, np.float32(0))


def normed_relu(x: np.ndarray) -> np.ndarray:
    """ReLU of the layer's outputs after LayerNorm, without scale and offset."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = np.maximum((x**2).mean(axis=-1, keepdims=True) - mean**2, np.float32(0))
    return relu((x - mean) / np.sqrt(variance + np.float32(NORM_EPSILON)))


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "relu": relu,
    "normed_relu": normed_relu,
}


def actions(
    layers: Layers, activation: str, seen: np.ndarray, noise: np.ndarray | None = None
) -> np.ndarray:
    """Actions in [-1, 1]: the mode, or with standard normal ``noise`` a draw."""
    act = ACTIVATIONS[activation]
    for w, b in layers[:-1]:
        seen = act(seen @ w + b)
    w, b = layers[-1]
    mean, log_std = np.split(seen @ w + b, 2, axis=-1)
    if noise is None:
        return np.tanh(mean)
    return np.tanh(mean + np.exp(np.clip(log_std, *LOG_STD)) * noise)
