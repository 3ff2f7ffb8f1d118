"""What `scripts/bench` measures: ratios of things that ran in turn, on one machine, in one run."""
