"""A prompt and its reply, explained piece by piece."""
