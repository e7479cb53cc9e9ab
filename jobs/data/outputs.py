"""Explain where the files in MUSTER_OUTPUT_DIR are kept, or that they are lost."""

from __future__ import annotations

from datetime import timedelta

from clusters import backends
from clusters.models import Cluster
from jobs.models import Attempt
from portal.core.messages import Message
from portal.core.vault import Unreadable
from schedulers.contract import OutputFolder, OutputRetention, Rejected
from schedulers.states import State

# No text names the folder: it means nothing to people without an account there, and the
# environment of the job has it.
_SAVE = Message("To keep them here, add an output to the job.")
KEPT = timedelta(days=7)  # from the attempt's end until the backend deletes them


def output_of(cluster: Cluster, key: str) -> OutputFolder | None:
    """Return the cluster's output policy; None if its backend cannot be created."""
    try:
        return backends.backend_of(cluster).output_of(key)
    except (Rejected, Unreadable, KeyError):
        return None


def output_text(attempt: Attempt) -> str:
    """Return the text for one attempt, whatever its state; empty if nothing is known."""
    output = output_of(attempt.cluster, attempt.key)
    if output is None:
        return ""
    hint = "" if attempt.job.spec.get("outputs") else _SAVE
    return (
        _text_after_end(output, hint, is_forgotten=attempt.is_forgotten)
        if State(attempt.state).is_final
        else _text_before_end(output, hint)
    )


def warning(cluster: Cluster) -> str:
    """Return what a new job on this cluster would lose; empty if nothing."""
    output = output_of(cluster, "rehearsal")
    return (
        _text_before_end(output, _SAVE)
        if output and output.retention is OutputRetention.RUN
        else ""
    )


def _text_before_end(output: OutputFolder, hint: str) -> str:
    """Return the text for a job that has not ended; `hint` says how to keep files."""
    if output.retention is OutputRetention.ON:
        return Message.joined(
            " ", (Message("Files in MUSTER_OUTPUT_DIR are kept on the cluster."), hint)
        )
    if output.retention is OutputRetention.WEEK:
        text = Message(
            "Files in MUSTER_OUTPUT_DIR are kept on the cluster until {days} days after the end.",
            days=KEPT.days,
        )
        return Message.joined(" ", (text, hint))
    if output.shared:
        return Message(
            "Files in MUSTER_OUTPUT_DIR are deleted when the job ends; files in {shared} are kept.",
            shared=", ".join(output.shared),
        )
    text = Message(
        "Files in MUSTER_OUTPUT_DIR are deleted when the job ends, as this cluster keeps none."
    )
    return Message.joined(" ", (text, hint))


def _text_after_end(output: OutputFolder, hint: str, *, is_forgotten: bool) -> str:
    if output.retention is OutputRetention.ON:
        return Message.joined(
            " ", (Message("Files in MUSTER_OUTPUT_DIR are kept on the cluster."), hint)
        )
    if output.retention is OutputRetention.RUN:
        text = Message("Files in MUSTER_OUTPUT_DIR were deleted when the job ended.")
        return Message.joined(" ", (text, hint))
    if is_forgotten:
        return Message(
            "Files in MUSTER_OUTPUT_DIR were deleted {days} days after the end.",
            days=KEPT.days,
        )
    text = Message(
        "Files in MUSTER_OUTPUT_DIR are kept on the cluster until {days} days after the end.",
        days=KEPT.days,
    )
    return Message.joined(" ", (text, hint))
