"""Benchmarks: `python -m bench` runs all and rewrites docs/bench.md, `python -m bench.NAME` one."""
