"""Run jobs on the portal's own machine.

Keep imports of the supervisor small, as every job pays for them.
"""
