"""Health of nodes and GPUs: declared checks, what they find, and what they do about it."""
