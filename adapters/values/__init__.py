"""Convert values to the text of prompts, and the text of replies to typed values."""
