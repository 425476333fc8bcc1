"""JSON as models write it: parsed, repaired, with the positions of its pieces."""
