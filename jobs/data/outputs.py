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
    return _text(output, is_final=State(attempt.state).is_final, is_forgotten=attempt.is_forgotten)


def warning(cluster: Cluster) -> str:
    """Return what a new job on this cluster would lose; empty if nothing."""
    output = output_of(cluster, "rehearsal")
    return _text(output) if output and output.retention is OutputRetention.RUN else ""


def _text(output: OutputFolder, *, is_final: bool = False, is_forgotten: bool = False) -> str:
    match output.retention:
        case OutputRetention.ON:
            stays = Message("Files in MUSTER_OUTPUT_DIR stay on the cluster.")
        case OutputRetention.WEEK if is_forgotten:
            return Message(
                "Files in MUSTER_OUTPUT_DIR were removed {days} days after the job ended.",
                days=KEPT.days,
            )
        case OutputRetention.WEEK:
            stays = Message(
                "Files in MUSTER_OUTPUT_DIR stay on the cluster for {days} days after the job ends.",
                days=KEPT.days,
            )
        case _ if is_final:
            stays = Message("This cluster keeps no files of MUSTER_OUTPUT_DIR after a job ends.")
        case _ if output.shared:
            return Message(
                "Files in MUSTER_OUTPUT_DIR are lost when the job ends; files in {shared} stay.",
                shared=", ".join(output.shared),
            )
        case _:
            return Message(
                "Files in MUSTER_OUTPUT_DIR are lost when the job ends: this cluster has no "
                "permanent storage. Copy what you need elsewhere in the job's command."
            )
    return Message.joined(" ", (stays, _SAVE))
