"""What signatures, prompts, readings and sessions show of themselves, in a notebook and as plain text."""
