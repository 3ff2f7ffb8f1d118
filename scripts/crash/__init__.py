"""What `scripts/crash_test` does: writers that are killed, and what must be there afterwards."""
