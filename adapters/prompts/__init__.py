"""Messages whose text records the origin of each character."""
