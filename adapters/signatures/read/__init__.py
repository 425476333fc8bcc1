"""Python source and the string notation to a signature. Read as text, never run."""
