"""Measurements. `python -m bench` runs them all and rewrites docs/bench.md; `python -m bench.NAME` runs one."""
