"""Save what jobs write to their outputs as versions of datasets and checkpoints."""
