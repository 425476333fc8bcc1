"""Any release of dspy as an engine: a warm child process in which that very dspy renders and reads our cases."""
