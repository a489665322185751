"""Many runs: a grid of settings as jobs, each a command of its own in a directory of its own."""
