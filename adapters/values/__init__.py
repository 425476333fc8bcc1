"""Values to text for a prompt, and text to typed values for a reply."""
