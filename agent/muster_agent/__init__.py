"""Node agent: reports metrics of a machine, its GPUs and its jobs. Does not import Django."""

from __future__ import annotations

from muster_agent.collector import Collector, collect
from muster_agent.config import Config
from muster_agent.loop import Agent
from muster_agent.sample import Event, Sample
from muster_agent.version import VERSION

__all__ = ["VERSION", "Agent", "Collector", "Config", "Event", "Sample", "collect"]
