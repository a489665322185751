"""Experts: the same SAC on the true cost, their shipped policies, and what they demonstrate."""
