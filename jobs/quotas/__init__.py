"""Quotas as an administrator sees them: the tree of who holds what, and whom a change would stop."""
