"""What base methods share."""

import jax
import numpy as np
import pytest

from soar_il.bases import fitting


@pytest.mark.parametrize(("squash", "edge"), [("tanh", 1e-3), ("clamp", 0.0)])
def test_no_cost_is_beyond_its_bound_and_small_ones_are_as_they_are(squash, edge):
    x = np.float32([-1e6, -50.0, -0.01, 0.0, 0.01, 50.0, 1e6])
    costs = np.asarray(fitting.bounded(x, 3.0, squash))
    assert np.abs(costs).max() == 3.0
    np.testing.assert_allclose(costs[2:5], x[2:5], atol=1e-6)
    slope = jax.grad(lambda x: fitting.bounded(x[None], 3.0, squash)[0])(np.float32(50.0))
    assert float(slope) <= edge
