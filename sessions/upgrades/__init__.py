"""What a change of dspy, of a model or of an adapter changes in prompts, requests and readings, by cause."""
