"""What was learned, as a thing of its own: one file that acts wherever NumPy is.

Nothing here imports JAX, Gymnasium or MuJoCo: a robot needs numpy and safetensors alone.
"""

from soar_il.policy.policy import Policy

__all__ = ["Policy"]
