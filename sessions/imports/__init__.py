"""Other people's files as sessions: demos, dspy's saved programs, recorded calls, conversations. Read, never run."""
