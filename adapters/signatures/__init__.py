"""Signatures as data, and functions to read, write and edit both of their notations."""
