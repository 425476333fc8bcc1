"""Group drift by cause: each change, with all fixtures that it affects."""
