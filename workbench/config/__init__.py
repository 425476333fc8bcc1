"""What a user can set, and the code that a user names."""
