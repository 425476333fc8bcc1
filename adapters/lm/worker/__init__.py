"""What runs in the child process that has litellm: loaded by its path, with nothing of this project imported."""
