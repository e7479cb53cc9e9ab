"""Run the node agent in the embedded process, which receives its batches directly."""

from __future__ import annotations

import sys
import threading

from django.conf import settings

from monitoring.metrics.ingest import ingest
from portal.core.errors import NotFound


def agent(stop: threading.Event) -> None:
    """Run the agent until stopped. It is a separate package that also runs without the portal."""
    package = str(settings.ROOT / "agent")
    if package not in sys.path:
        sys.path.append(package)
    from muster_agent.config import Config
    from muster_agent.loop import Agent

    Agent(
        Config(jobs_dir=settings.MUSTER_HOME / "jobs", disks=(settings.MUSTER_HOME,)),
        sink=_ingest,
        stop=stop,
    ).run()


def _ingest(body: dict[str, object]) -> None:
    try:
        ingest(body)
    except NotFound:  # the inventory does not have this node yet
        return
