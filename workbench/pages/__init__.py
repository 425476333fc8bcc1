"""Pages for a browser: one HTML file each, which opens from disk and needs nothing else."""
