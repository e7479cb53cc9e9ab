"""GPU utilization: recorded every minute from the series of node agents (docs/design/jobs.md)."""
