"""Settings, user code, and limits on the files, programs and models within reach."""
