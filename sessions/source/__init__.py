"""The program that a session's signature comes from: found, followed and read as text, never run."""
