"""Results of benches: runs of every case in every column, their totals and conclusions."""
