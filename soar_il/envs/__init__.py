"""Environments without their rewards, and how episodes are played and seen."""
