"""The engine: replay, episodes, the compiled loop, the guard, trials. It names no learner."""
