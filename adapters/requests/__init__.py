"""Build requests: messages and parameters, which adapter and model determine together."""
