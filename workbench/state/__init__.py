"""The open session, what follows from it, and its undo. Shared by all that show it."""
