"""The child process that runs litellm. Its modules are loaded by path and import nothing of this project."""
