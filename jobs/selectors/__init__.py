"""Queries of jobs, and the shapes in which they are answered."""
