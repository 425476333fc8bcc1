"""Session files: loading, saving, checking their fixtures, and the examples. Imports `adapters`, never the app."""
