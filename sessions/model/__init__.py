"""What a session is: signature, demos, columns, cases, variants and recordings, as immutable data."""
