"""The parts of the local backend. What a supervisor imports is paid by each job: see supervisor."""
