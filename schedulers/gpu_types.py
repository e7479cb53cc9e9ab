"""The resource class of a GPU by its product name."""

from __future__ import annotations

import re

_PROFILE = re.compile(r"(?:^|.*?[-_ :])(?:mig[-_ ])?(\d+g\.\d+gb(?:[.+][\w.+]+)?)", re.IGNORECASE)
_SERIES = {"geforce", "rtx", "quadro"}  # names of many models


def mig_type(name: str) -> str:
    """Return the class of a MIG slice by its name; empty for the name of a whole GPU.

    "mig-1g.5gb" for "1g.5gb", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb" (the label of a Kubernetes node with
    the strategy "single") and "nvidia_a100_1g.5gb" (Slurm's AutoDetect); "1g.10gb+me" has a dot.
    """
    found = _PROFILE.fullmatch(name)
    return f"mig-{found[1].lower().replace('+', '.')}"[:34] if found else ""


def type_of(product: str) -> str:
    """Return the GPU type of a product name, as NVML or the GPU operator's node label writes it.

    "NVIDIA H200" is h200, "NVIDIA-H100-80GB-HBM3" is h100, "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb" is
    mig-1g.10gb. The suffix of shared GPUs is dropped.
    """
    if mig := mig_type(product):
        return mig
    words = product.lower().replace("nvidia", "").replace("tesla", "").replace("-", " ").split()
    return (words[0] if words and words[0] not in _SERIES else "".join(words[:3]))[:34] or "gpu"
