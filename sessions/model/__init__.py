"""Immutable data types of a session: signature, demos, columns, cases, variants and recordings."""
