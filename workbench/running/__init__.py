"""Sending: one run after the other, what it says meanwhile, and what is kept of it."""
