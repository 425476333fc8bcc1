"""Render a session's cases as requests, answer its tool calls, and record and replay replies."""
