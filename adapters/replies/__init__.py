"""Parse results: what became of each piece of a reply, flags, and near misses."""
