"""Read and write session files as JSON without losing anything."""
