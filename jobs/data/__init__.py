"""The data of jobs: inputs, outputs, mounted folders and stored logs."""
