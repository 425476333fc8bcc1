"""A bench: every case under every column, several times; planned, run to the end whatever breaks it off, and told."""
