"""Benches: every case in every column, several times; planned, run, judged and reported."""
