"""Runs on disk: a kill, a full disk or a flipped bit costs at most the work since a checkpoint."""
