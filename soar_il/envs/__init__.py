"""Environments without their rewards."""
