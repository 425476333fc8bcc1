"""Session files: from and to JSON, read and written so that nothing is lost."""
