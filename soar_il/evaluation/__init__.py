"""True returns of finished policies; nothing here is ever read by a learner."""
