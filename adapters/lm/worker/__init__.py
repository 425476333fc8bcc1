"""The child process that has litellm: loaded by path, importing nothing of this project."""
