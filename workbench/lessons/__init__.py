"""Lessons that explain a prompt and its reply step by step."""
