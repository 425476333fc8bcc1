"""The command line. `commands` has a file for each command."""
