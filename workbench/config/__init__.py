"""Settings, code that users name, and limits on what the app may reach."""
