"""Every key: its action, its name, and the user's own keys."""
