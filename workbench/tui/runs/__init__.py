"""Runs of the app: under way, ended, kept, rated."""
