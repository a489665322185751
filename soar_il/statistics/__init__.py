"""Estimates over seeds and tasks with their intervals, and how fast a curve rises."""
