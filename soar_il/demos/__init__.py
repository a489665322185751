"""Demonstrations: what an expert did, never what it was paid."""

from soar_il.demos.format import Demos

__all__ = ["Demos"]
