"""The parts of a session: signature, demos, columns, cases, variants and recordings, as immutable data."""
