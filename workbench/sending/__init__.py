"""Send a session's columns to their models, for the command line and the app."""
