"""Calls of a real program as sessions: what a listener in that program heard of dspy (`workbench.capture`)."""
