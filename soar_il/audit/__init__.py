"""Negative controls: what a method reaches when demonstrations say nothing, or something else."""
