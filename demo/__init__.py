"""A simulated organization: a cluster that runs no programs, and a week of its jobs.

`manage.py demo` fills a portal with it. The jobs pass through the same services as real ones; only
the programs, their output and the sensors of the GPUs are simulated.
"""
