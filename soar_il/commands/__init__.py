"""What ``soar`` can be told to do; heavy imports wait until a command runs."""
