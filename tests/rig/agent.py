"""A real node agent as a process of its own, with doubles of NVML and a clock that may be wrong.

`python -m tests.rig.agent URL NODE --ahead SECONDS --gpus N --vanish CALL`; the token is in
MUSTER_AGENT_TOKEN.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import pynvml

from muster_agent import collector, gpus, sender
from muster_agent.collector import Collector
from muster_agent.config import Config
from muster_agent.gpus import GpuSampler
from muster_agent.loop import Agent
from muster_agent.nvml import Driver
from tests.agent.mig_double import MigNvml
from tests.agent.nvml_double import Device
from tests.stand_in import StandIn


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("node")
    parser.add_argument("--ahead", type=float, default=0.0)
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--vanish", default="", help="the call on which the first GPU is lost")
    given = parser.parse_args()
    clock = StandIn(time, time=lambda: time.time() + given.ahead)
    for module in (collector, gpus, sender):
        vars(module)["time"] = clock
    config = Config.from_environ(
        url=given.url,
        node=given.node,
        allow_mig=True,
        idle_interval=1.0,
        busy_interval=1.0,
        disks=(Path("/"),),
    )
    nvml = MigNvml(*(Device(f"GPU-{given.node}-{n}") for n in range(given.gpus)))

    def vanish(call: str) -> None:
        if call == given.vanish:
            nvml.lost.add(nvml.devices[0].uuid)
            nvml.devices[0].failure = pynvml.NVML_ERROR_GPU_IS_LOST

    nvml.on_call = vanish
    Agent(config, collector=Collector(config, gpus=GpuSampler(Driver(lambda: nvml)))).run()


if __name__ == "__main__":
    main()
