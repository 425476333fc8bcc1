"""The command line. `commands` has one file a command."""
