"""Specs of stored jobs: reading them, and how two of them differ."""
