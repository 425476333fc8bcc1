"""A signature as a form and as source."""
