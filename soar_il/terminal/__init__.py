"""What shows on a terminal: progress bars, lines for a log, the one console."""
