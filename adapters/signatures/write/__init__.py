"""Signatures, types and values as Python source that reads back to the same."""
