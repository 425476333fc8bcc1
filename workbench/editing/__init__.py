"""Edit sessions, by pure functions."""
