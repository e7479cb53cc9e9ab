"""Run jobs on Slurm.

All modules are pure except for the access paths: commands, rest and files.
"""
