"""Recordings changed at random, and the laws that must hold of whatever comes out: `scripts/fuzz_streams`."""
