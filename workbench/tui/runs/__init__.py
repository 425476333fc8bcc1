"""Runs of the app: active, finished, stored, rated."""
