"""Messages made of text that knows where each of its characters came from."""
