"""JSON as models write it: read, repaired, and where its pieces stand in the text."""
