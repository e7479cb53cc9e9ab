"""GPU partitioning (MIG): layouts of GPUs, and plans as they are shown."""
