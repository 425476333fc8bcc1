"""Signatures as data, and the two notations they are read from, written in and edited as."""
