"""Log details for the job page."""

from __future__ import annotations

from typing import Any

from jobs.models import Attempt
from portal.blobs.logs import log_store


def facts_of_log(attempt: Attempt) -> dict[str, Any]:
    """Return the stored size, and the certificate of a sealed log."""
    store, name = log_store(), attempt.id.hex
    certificate = store.certificate(name)
    return {
        "bytes": store.end(name),
        "certificate": certificate.as_dict() if certificate else None,
        "text": certificate.text if certificate else "",
    }
