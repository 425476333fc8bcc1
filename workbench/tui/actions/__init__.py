"""What the app does in steps: questions that are asked on the way, and what then happens."""
