"""What drives a learner and knows none: replay, episodes, the compiled loop, the guard, trials."""
