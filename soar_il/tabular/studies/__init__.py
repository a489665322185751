"""Experiments on the tabular algorithm: what ``soar tabular`` and ``soar regret`` measure."""
