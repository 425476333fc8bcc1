"""Plan, run, judge and report benches: every case in every column, several times."""
