"""Build requests: messages and parameters, as adapter and model together decide them."""
