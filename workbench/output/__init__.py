"""Output: the gates for screen, command line and JSON, and the words that both front ends share."""
