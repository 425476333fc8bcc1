"""Pages for a browser: one HTML file each, that opens from disk and needs nothing else."""
