"""Live capture: what a running program does, while it does it."""
