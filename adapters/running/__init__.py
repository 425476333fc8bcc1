"""Run models: the only way to call them, with events, retries and tool turns."""
