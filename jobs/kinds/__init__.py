"""What kinds of jobs there are, and what submits a job for its owner."""
