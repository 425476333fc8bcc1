"""Use any dspy release as an engine: it renders and parses our cases in a warm child process."""
