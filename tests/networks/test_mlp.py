import jax
import numpy as np
from known import normals

from soar_il.networks import mlp


def test_a_stack_of_networks_is_its_members():
    layers = jax.device_get(mlp.init(jax.random.key(0), (4, 8, 1), (3,)))
    x = normals(0, (5, 4))
    each = np.stack([x, x + 1, x - 1])
    shared, own = mlp.apply(layers, x), mlp.apply(layers, each)
    for n in range(3):
        (v, c), (w, b) = ((w[n], b[n]) for w, b in layers)
        for found, at in ((shared[n], x), (own[n], each[n])):
            np.testing.assert_allclose(found, np.maximum(at @ v + c, 0) @ w + b, atol=1e-6)
