"""Background loops of the audit trail: seal, check and forward it."""

from __future__ import annotations

from portal.background import BackgroundLoop
from portal.core.audit.background import forwarder, sealer, verifier

LOOPS = tuple(BackgroundLoop(loop, in_server=True) for loop in (sealer, verifier, forwarder))
