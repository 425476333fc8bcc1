"""Preview the effects of another dspy, model or adapter on prompts, requests and parse results."""
