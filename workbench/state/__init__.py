"""The open session with undo, and the results derived from it, shared by both front ends."""
