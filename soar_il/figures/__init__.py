"""How every figure looks, and those of training itself: one run's, the experts'."""
