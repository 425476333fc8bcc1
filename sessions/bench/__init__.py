"""Which column wins: runs of every case under every column, counted, and what may be concluded from them."""
