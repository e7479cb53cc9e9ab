"""What the job page says of a log."""

from __future__ import annotations

from typing import Any

from jobs.models import Attempt
from portal.blobs.logs import log_store


def facts_of_log(attempt: Attempt) -> dict[str, Any]:
    """How much is stored, and the certificate once it is closed."""
    store, name = log_store(), attempt.id.hex
    certificate = store.certificate(name)
    return {
        "bytes": store.end(name),
        "certificate": certificate.as_dict() if certificate else None,
        "text": str(certificate.text) if certificate else "",
    }
