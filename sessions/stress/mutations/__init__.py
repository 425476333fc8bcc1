"""The catalogue: every mutation by name, grouped by what of a reply it changes."""
