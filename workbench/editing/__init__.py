"""What can be done to a session, as pure functions."""
