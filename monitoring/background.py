"""The node agent of the embedded process: it watches this machine and hands its batches over without a network."""

from __future__ import annotations

import sys
import threading

from django.conf import settings

from monitoring.metrics.ingest import ingest
from portal.core.errors import NotFound


def agent(stop: threading.Event) -> None:
    """Until told to stop. The agent is its own package, so that it can run on nodes without the portal."""
    package = str(settings.ROOT / "agent")
    if package not in sys.path:
        sys.path.append(package)
    from muster_agent.config import Config
    from muster_agent.loop import Agent

    Agent(
        Config(jobs_dir=settings.MUSTER_HOME / "jobs", disks=(settings.MUSTER_HOME,)),
        sink=_take,
        stop=stop,
    ).run()


def _take(body: dict[str, object]) -> None:
    try:
        ingest(body)
    except NotFound:  # the first inventory comes a moment after the first look
        return
