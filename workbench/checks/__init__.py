"""Check sessions, for the command line, the app and other people's test suites."""
