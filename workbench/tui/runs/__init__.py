"""Runs in the app: active, finished, stored and rated."""
