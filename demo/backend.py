"""A double of a scheduler: it runs no programs, and derives what jobs do from the clock."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, cast

from demo.simulation import RunStore, SimulatedAttempt, plan
from portal.core import clock
from schedulers import mig
from schedulers.contract import (
    Capability,
    GpuFacts,
    Handle,
    Launch,
    LogChunk,
    NodeFacts,
    Observation,
    OutputFolder,
    OutputRetention,
    Poll,
    Probe,
)
from schedulers.exit_reasons import EndReason, ProcessEnd, classify
from schedulers.states import Reason, State

GIB = 1 << 30
_EXIT_CODES = {Reason.COMPLETED: 0, Reason.USER_ERROR: 1, Reason.OUT_OF_MEMORY: 137}


@dataclass(frozen=True)
class Config:
    """Options of a simulated cluster. `name` tells the clusters' folders apart."""

    home: Path
    name: str = "simulated"
    h100_nodes: int = 10
    l40s_nodes: int = 8
    is_measured: bool = True  # the portal plays the agents, too
    is_replay: bool = False  # jobs of the past end by chance; those of visitors succeed


class SimulatedCluster:
    """The backend of the demo; see Backend for the contract."""

    name: ClassVar[str] = "simulated"
    title: ClassVar[str] = "a simulated cluster"
    is_hidden: ClassVar[bool] = True  # only `manage.py demo` connects one
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {Capability.PLACES, Capability.GANG, Capability.DRAIN, Capability.IMAGES}
    )

    def __init__(self, config: Config) -> None:
        self.config = config
        self.runs = RunStore(config.home / "simulated" / config.name)
        self._outputs: dict[str, list[tuple[float, bytes]]] = {}
        self._lock = threading.Lock()

    @classmethod
    def configured(cls, options: Any) -> SimulatedCluster:
        return cls(
            Config(
                home=Path(options["home"]),
                **{name: value for name, value in options.items() if name != "home"},
            )
        )

    def probe(self) -> Probe:
        return Probe(is_ok=True, message="The cluster is simulated.", version="1")

    def inventory(self) -> Sequence[NodeFacts]:
        layouts, names = self.layouts(), []
        names += [(f"dgx-{n:02}", "h100") for n in range(1, self.config.h100_nodes + 1)]
        names += [(f"render-{n:02}", "l40s") for n in range(1, self.config.l40s_nodes + 1)]
        nodes = [self._node(name, kind, layouts) for name, kind in names]
        drained = self._drained()
        return [
            replace(node, is_drained=True, note=drained[node.name])
            if node.name in drained
            else node
            for node in nodes
        ]

    def hardware(self, name: str) -> list[GpuFacts]:
        """Return the physical GPUs of a node."""
        kind = "l40s" if name.startswith("render") else "h100"
        model, memory, count, compute = {
            "h100": ("NVIDIA H100 80GB HBM3", 80 * GIB, 8, "9.0"),
            "l40s": ("NVIDIA L40S", 48 * GIB, 4, "8.9"),
        }[kind]
        rng = random.Random(name)
        return [
            GpuFacts(
                index=n,
                uuid=f"GPU-{rng.getrandbits(128):032x}",
                model=model,
                type=kind,
                memory=memory,
                compute=compute,
            )
            for n in range(count)
        ]

    def instances(
        self, gpu: GpuFacts, layout: Sequence[Mapping[str, Any]]
    ) -> list[tuple[Mapping[str, Any], GpuFacts]]:
        """Return the MIG instances of a layout, each with what the scheduler hands out."""
        model = mig.MODELS["H100-80GB"]
        return [
            (
                one,
                GpuFacts(
                    index=gpu.index,
                    uuid=f"MIG-{gpu.uuid[4:]}-{one['start']}",
                    model=f"{gpu.model} MIG {one['profile']}",
                    type=f"mig-{one['profile']}",
                    memory=gpu.memory * profile.size // model.slices,
                    compute=gpu.compute,
                ),
            )
            for one in layout
            if (profile := model.profile(one["profile"]))
        ]

    def layouts(self) -> dict[str, list[dict[str, Any]] | None]:
        """Return the MIG layout by GPU; None or missing is without MIG."""
        return dict(self._mig()["layouts"])

    def report_of(self, node: str) -> dict[str, Any] | None:
        """Return what the agent of a node reports about its last work."""
        return cast("dict[str, Any] | None", self._mig()["reports"].get(node))

    def partition(self, node: str, layouts: Mapping[str, Any], report: Mapping[str, Any]) -> None:
        kept = self._mig()
        kept["layouts"] |= layouts
        kept["reports"][node] = report
        self.runs.folder.mkdir(parents=True, exist_ok=True)
        (self.runs.folder / "mig").write_text(json.dumps(kept))

    def _mig(self) -> dict[str, dict[str, Any]]:
        path = self.runs.folder / "mig"
        return json.loads(path.read_text()) if path.exists() else {"layouts": {}, "reports": {}}

    def _node(self, name: str, kind: str, layouts: Mapping[str, Any]) -> NodeFacts:
        gpus: list[GpuFacts] = []
        for gpu in self.hardware(name):
            layout = layouts.get(gpu.uuid)
            gpus += [gpu] if layout is None else [one for _, one in self.instances(gpu, layout)]
        return NodeFacts(
            name=name,
            cpus=112 if kind == "h100" else 64,
            memory=(2048 if kind == "h100" else 512) * GIB,
            gpus=gpus,
            labels={"rack": f"r{1 + int(name.rpartition('-')[2]) // 5}", "gpu": kind},
            arch="amd64",
            driver="570.124.06",
            cuda="12.8",
        )

    def drain(self, node: str, why: str) -> None:
        self._write_drained(self._drained() | {node: why})

    def resume(self, node: str) -> None:
        self._write_drained({name: why for name, why in self._drained().items() if name != node})

    def _drained(self) -> dict[str, str]:
        path = self.runs.folder / "drained"
        return json.loads(path.read_text()) if path.exists() else {}

    def _write_drained(self, drained: dict[str, str]) -> None:
        self.runs.folder.mkdir(parents=True, exist_ok=True)
        (self.runs.folder / "drained").write_text(json.dumps(drained))

    def render(self, launch: Launch) -> str:
        return launch.script

    def submit(self, launch: Launch) -> Handle:
        run = self.runs.get(launch.key)
        if run is None:
            run = plan(launch, clock.now().timestamp(), is_by_chance=self.config.is_replay)
            self.runs.put(run)
        return Handle(run.key, _native_id(run))

    def output_of(self, key: str) -> OutputFolder:
        return OutputFolder(path=f"/scratch/{key}", retention=OutputRetention.WEEK)

    def find(self, key: str) -> Handle | None:
        run = self.runs.get(key)
        return Handle(key, _native_id(run)) if run else None

    def poll(self, keys: Iterable[str]) -> Poll:
        at = clock.now().timestamp()
        found = {key: self.runs.get(key) for key in keys}
        return Poll(
            [_observation(run, at) for run in found.values() if run],
            [key for key, run in found.items() if run is None],
        )

    def cancel(self, key: str, grace: float = 30) -> None:
        run = self.runs.get(key)
        if run and not run.canceled:
            self.runs.put(replace(run, canceled=clock.now().timestamp()))

    def read_log(self, key: str, after: int, limit: int = 1 << 20) -> LogChunk:
        """Return the output up to now, in pieces of a tenth of the job, so that times are kept."""
        run, now = self.runs.get(key), clock.now().timestamp()
        if run is None:
            return LogChunk(after, b"", clock.now_ms())
        end, part, at = 0, b"", now
        for when, line in self._output(run):
            if when > min(now, run.finished) or len(part) > limit // 2:
                break
            if end >= after:
                if part and when - at > run.seconds / 10:
                    break
                part, at = part + line, when
            end += len(line)
        return LogChunk(after, part, round(at * 1000))

    def _output(self, run: SimulatedAttempt) -> list[tuple[float, bytes]]:
        with self._lock:
            if run.key not in self._outputs:
                if len(self._outputs) > 200:
                    self._outputs.clear()
                self._outputs[run.key] = [(at, f"{line}\n".encode()) for at, line in run.output()]
            return self._outputs[run.key]

    def forget(self, key: str) -> None:
        self.runs.delete(key)
        self._outputs.pop(key, None)


def _native_id(run: SimulatedAttempt) -> str:
    return str(100000 + int(run.key[-4:], 16))


def _observation(run: SimulatedAttempt, at: float) -> Observation:
    state = (
        State.STARTING
        if at < run.started
        else State.RUNNING
        if at < run.finished
        else run.reason.final_state
    )
    end = _classified(run) if state.is_final else None
    return Observation(
        key=run.key,
        state=state,
        native_id=_native_id(run),
        reason=end.reason if end else None,
        exit_code=_EXIT_CODES.get(run.reason) if end else None,
        evidence=end.evidence if end else "",
        started_at=_time(run.started) if at >= run.started else None,
        finished_at=_time(run.finished) if state.is_final else None,
        node=run.node.partition(",")[0],
        nodes=run.node.split(",") if "," in run.node else (),
        peak_memory=run.peak_memory if state.is_final else None,
    )


def _classified(run: SimulatedAttempt) -> EndReason:
    """Return the reason of its end, from its output if the program failed."""
    if run.reason is not Reason.USER_ERROR:
        gib = f"{run.peak_memory / GIB:.1f} GiB"
        evidence = {
            Reason.OUT_OF_MEMORY: f"peak {gib} of {gib}",
            Reason.NODE_FAILED: "the node stopped responding",
        }
        return EndReason(run.reason, evidence.get(run.reason, ""))
    *_, (_, text) = run.output()
    return classify(ProcessEnd(1, None, tail=text))


def _time(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
