"""The parts of the Slurm backend; pure but for the doors (commands, rest, files)."""
