"""Every key: what it does, what it is called, and the user's own."""
