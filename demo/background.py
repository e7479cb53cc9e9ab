"""Background loops that keep the simulated organization alive."""

from __future__ import annotations

from demo import checkpoints, experiments, telemetry
from portal.background import BackgroundLoop

LOOPS = (
    BackgroundLoop(telemetry.feed),
    BackgroundLoop(experiments.feed),
    BackgroundLoop(checkpoints.feed),
)
