"""kill -9 under load: every accepted job runs exactly once, whatever dies meanwhile."""
