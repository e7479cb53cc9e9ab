"""Quotas for administrators: the usage tree, and a preview of changed limits."""
