"""The command line; `commands` has a module for each command."""
