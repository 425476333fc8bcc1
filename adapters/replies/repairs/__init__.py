"""Guesses at what a reply was meant to be, for the near misses."""
