"""Output: the gates for screen, command line and JSON, and text shared by both front ends."""
