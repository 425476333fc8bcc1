"""Convert the dspy calls of a real program, heard by a listener in it, to sessions (`workbench.capture`)."""
