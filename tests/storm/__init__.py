"""kill -9 under load: what was accepted is run, once, whatever dies meanwhile."""
