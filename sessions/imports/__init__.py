"""Import demos, saved dspy programs, recorded calls and conversations as sessions. No code in them is run."""
