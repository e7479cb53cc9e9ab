"""The resource class of a GPU by its product name."""

from __future__ import annotations

_SERIES = {"geforce", "rtx", "quadro"}  # names of many models


def type_of(product: str) -> str:
    """Return the GPU type of a product name, as NVML or the GPU operator's node label writes it.

    "NVIDIA H200" is h200, "NVIDIA-H100-80GB-HBM3" is h100. Suffixes of shared and partitioned GPUs
    are dropped.
    """
    words = product.lower().replace("nvidia", "").replace("tesla", "").replace("-", " ").split()
    return (words[0] if words and words[0] not in _SERIES else "".join(words[:3]))[:34] or "gpu"
