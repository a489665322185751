"""The deep half: SAC with L pairs of critics, as parts of Algorithm 1."""
