"""The session file, its store, the check of its fixtures, and the examples. Imports `adapters`, and no screen."""
