"""Classes of GPUs that several jobs share: "h100.shared" (time slices, shards) and "h100.mps".

A share is not a GPU: it does not count as one in totals or quotas of `gpu`, only under its class.
"""

from __future__ import annotations

from portal.core.messages import Message

SHARED, MPS = "shared", "mps"
_ABOUT = {
    SHARED: Message(
        "A share of a GPU: other jobs use the same GPU at the same time. Its memory and its faults "
        "aren't isolated: another job can use up the memory, or end yours with an error."
    ),
    MPS: Message(
        "A share of a GPU through NVIDIA MPS: other jobs use the same GPU at the same time. "
        "A fault of one job ends all of them; memory is limited only if the cluster sets a limit."
    ),
}


def share_of(gpu_type: str) -> str:
    """Return "shared" or "mps" for a class of shares, else an empty string."""
    last = gpu_type.rpartition(".")[2]
    return last if last in _ABOUT else ""


def whole_type(gpu_type: str) -> str:
    """Return the class of the GPU behind a share, or an empty string if it is not known."""
    return gpu_type.rpartition(".")[0] if share_of(gpu_type) else gpu_type


def share_type(gpu_type: str, share: str) -> str:
    """Return the class of shares of a GPU: "h100.shared", or "shared" of an unknown type."""
    return f"{gpu_type}.{share}" if gpu_type not in ("", "gpu") else share


def about_share(gpu_type: str) -> Message | str:
    """Return what a share does not isolate, or an empty string for a GPU of its own."""
    return _ABOUT.get(share_of(gpu_type), "")
