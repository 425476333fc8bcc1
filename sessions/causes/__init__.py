"""Why fixtures drift: what changed once, and all the fixtures that share it."""
