"""Run the node agent in the embedded process, which receives its batches directly."""

from __future__ import annotations

import threading

from django.conf import settings

from monitoring import agent_package
from monitoring.metrics.ingest import ingest
from portal.background import BackgroundLoop
from portal.core.errors import NotFound


def agent(stop: threading.Event) -> None:
    """Run the agent until stopped. It is a separate package that also runs without the portal."""
    agent_package.enable()
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


LOOPS = (BackgroundLoop(agent),)  # a component of its own in server mode
