"""What a simulated job does: how long it runs, how it ends, what it prints and measures.

Everything follows from the job's key and name, so a restarted portal continues where it was.
"""

from __future__ import annotations

import json
import math
import random
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from demo.recipes import RECIPES, Recipe
from schedulers.contract import Launch
from schedulers.states import Reason

START_DELAY = 20.0  # seconds from submission to running
LINES = 400  # of output, at most, per job
_MEMORY = 64 << 30  # bytes, of a job without a limit
_VISIT = 180.0  # seconds that a job of a visitor takes
_RATE = 3e-4  # learning rate of a job whose variables have none
_SETUP = 90.0  # seconds in which a mistake in the script shows
_BY_NAME = {recipe.name: recipe for recipe in RECIPES}
_OTHER = Recipe("", "", "", 0, "", 0.05, 0.6, 0)
_ENDS = (
    (Reason.COMPLETED, 80),
    (Reason.USER_ERROR, 11),
    (Reason.OUT_OF_MEMORY, 3),
    (Reason.TIME_LIMIT, 3),
    (Reason.NODE_FAILED, 3),
)
_CUDA_OUT_OF_MEMORY = """Traceback (most recent call last):
  File "/workspace/train.py", line 214, in <module>
    main()
  File "/workspace/train.py", line 187, in main
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.31 GiB. GPU 0 has a total capacity \
of 79.11 GiB of which 1.02 GiB is free."""
_KEY_ERROR = """Traceback (most recent call last):
  File "/workspace/train.py", line 98, in <module>
    dataset = build_dataset(cfg.data)
  File "/workspace/data/build.py", line 41, in build_dataset
    return REGISTRY[cfg.name](**cfg.args)
KeyError: 'instruct-v4'"""


@dataclass
class SimulatedAttempt:
    """One simulated attempt. Times are Unix seconds; `node` has all its nodes, with commas."""

    key: str
    name: str
    node: str
    gpus: tuple[str, ...]
    submitted: float
    seconds: float
    end: str
    canceled: float = 0.0
    memory: int = 0  # bytes requested; 0: no limit

    @property
    def recipe(self) -> Recipe:
        return _BY_NAME.get(self.name, _OTHER)

    @property
    def started(self) -> float:
        return self.submitted + START_DELAY

    @property
    def finished(self) -> float:
        """Return when it ends, or ended if it was canceled."""
        planned = self.started + self.seconds
        return min(planned, self.canceled + 3) if self.canceled else planned

    @property
    def reason(self) -> Reason:
        is_stopped = self.canceled and self.finished < self.started + self.seconds
        return Reason.CANCELED if is_stopped else Reason(self.end)

    @property
    def peak_memory(self) -> int:
        """Return the most memory that it used, in bytes: all that it has, if that was the end of it."""
        if self.reason is Reason.OUT_OF_MEMORY and self.memory:
            return self.memory
        share = random.Random(f"{self.key} memory").uniform(0.3, 0.85)
        return round((self.memory or _MEMORY) * share)

    def gpu_utilization(self, gpu: int, at: float) -> float:
        """Return the utilization (0 to 1) of one of its GPUs at a time."""
        if not self.started <= at < self.finished:
            return 0.0
        mean, elapsed = self.recipe.use, at - self.started
        if elapsed < 60:  # loading data and compiling
            return 0.05
        is_evaluating = elapsed % 1800 > 1680
        noise = 0.035 * gauss(f"{self.key}{gpu}{at // 10}")
        return min(max(mean * (0.45 if is_evaluating else 1) + noise, 0.0), 1.0)

    def points(self, start: float, end: float, step_seconds: float) -> Iterator[Point]:
        """Yield the curves that the program logs in an interval."""
        curve, first = self.recipe.curve, max(self.started, start)
        at = self.started + math.ceil((first - self.started) / step_seconds) * step_seconds
        rng = random.Random(self.key)
        floor, speed, scale = rng.uniform(1.4, 2.1), rng.uniform(2, 4), rng.uniform(0.85, 1.15)
        while curve and at < min(end, self.finished):
            progress = (at - self.started) / max(self.seconds, 1)
            step = round((at - self.started) * 3)
            noise = gauss(f"{self.key}{step}")
            rate = float(dict(self.recipe.environment).get("LEARNING_RATE", _RATE))
            for name, value in _values(curve, progress, floor, speed, scale, noise, rate).items():
                yield Point(name, at, step, value)
            at += step_seconds

    def output(self) -> Iterator[tuple[float, str]]:
        """Yield its lines of output with the time of each."""
        if self.recipe is _OTHER:
            yield (
                self.started,
                "This cluster is simulated: it shows what a job looks like, and runs no program.",
            )
        else:
            yield self.started, f"$ {self.recipe.command}"
        yield self.started + 2, f"node {self.node}, {len(self.gpus)} GPUs"
        if self.recipe.curve:
            every = max(self.seconds / LINES, 5)
            yield from self._progress(every)
        yield self.started + self.seconds - 0.5, self._final_output()

    def _progress(self, every: float) -> Iterator[tuple[float, str]]:
        line: dict[str, float] = {}
        at = step = 0.0
        for point in self.points(self.started, self.started + self.seconds, every):
            if line and point.at != at:
                yield at, _line(step, line)
                line = {}
            at, step = point.at, point.step
            line[point.name] = point.value
        if line:
            yield at, _line(step, line)

    def _final_output(self) -> str:
        match Reason(self.end):
            case Reason.COMPLETED if self.recipe is _OTHER:
                return "done"
            case Reason.COMPLETED:
                return "done: wrote checkpoints/final.safetensors"
            case Reason.USER_ERROR:
                return _KEY_ERROR if self.seconds < _SETUP else _CUDA_OUT_OF_MEMORY
            case Reason.OUT_OF_MEMORY:
                return "loading shard 41 of 64"
        return "saving checkpoint"


@dataclass(frozen=True)
class Point:
    name: str
    at: float
    step: int
    value: float


def uniform(text: str) -> float:
    """Return a number from 0 to 1 that follows from a text; `random.Random(text)` takes ten times as long."""
    return zlib.crc32(text.encode()) / 0xFFFFFFFF


def gauss(text: str) -> float:
    """Return a normally distributed number that follows from a text."""
    bits = zlib.crc32(text.encode())
    size = math.sqrt(-2 * math.log(((bits >> 16) + 1) / 0x10000))
    return size * math.cos(2 * math.pi * (bits & 0xFFFF) / 0x10000)


def _line(step: float, values: dict[str, float]) -> str:
    return f"step {step:,.0f}  " + "  ".join(
        f"{name}={value:.4g}" for name, value in values.items()
    )


def _values(
    curve: str,
    progress: float,
    floor: float,
    speed: float,
    scale: float,
    noise: float,
    rate: float,
) -> dict[str, float]:
    decay = math.exp(-speed * progress)
    if curve == "rl":
        return {
            "episode_reward": 420 * (1 - decay) * scale + 14 * noise,
            "episode_length": 180 + 90 * decay + 5 * noise,
            "entropy": 1.1 * decay + 0.12 + 0.01 * noise,
        }
    if curve == "eval":
        return {
            "accuracy": min(0.62 * scale + 0.02 * noise, 0.99),
            "samples_per_second": 310 * scale + 6 * noise,
        }
    loss = (floor + 4.5 * decay) * scale
    return {
        "loss": loss + 0.04 * noise,
        "val_loss": loss * 1.06 + 0.015 * noise,
        "accuracy": min(0.78 * (1 - decay) * scale + 0.008 * noise, 0.99),
        "learning_rate": rate * 0.5 * (1 + math.cos(math.pi * min(progress, 1))),
        "samples_per_second": 1840 * scale + 25 * noise,
    }


def plan(launch: Launch, at: float, *, is_by_chance: bool) -> SimulatedAttempt:
    """Decide how a launched job will go.

    Jobs of the past may fail by chance. Later ones succeed, and one of a visitor takes three minutes.
    """
    rng = random.Random(launch.key)
    name = launch.name.partition("[")[0]
    recipe = _BY_NAME.get(name, _OTHER)
    limit = launch.limits.time_limit or math.inf
    median = recipe.hours * 3600
    if not is_by_chance and (recipe is _OTHER or recipe.command not in launch.script):
        return _run_of(launch, "", at, min(_VISIT, limit / 2), Reason.COMPLETED)
    if not is_by_chance:
        seconds = min(median * rng.lognormvariate(0, 0.45), limit / 2)
        return _run_of(launch, name, at, seconds, Reason.COMPLETED)
    end = rng.choices([reason for reason, _ in _ENDS], [share for _, share in _ENDS])[0]
    seconds = median * rng.lognormvariate(0, 0.45)
    if end is Reason.TIME_LIMIT and limit < math.inf:
        seconds = limit
    elif end is Reason.TIME_LIMIT:
        end = Reason.COMPLETED
    elif end is Reason.USER_ERROR and rng.random() < 0.5:
        seconds = rng.uniform(5, _SETUP)
    elif end is not Reason.COMPLETED:
        seconds *= rng.uniform(0.05, 0.7)
    if seconds > limit:
        seconds, end = limit, Reason.TIME_LIMIT
    return _run_of(launch, name, at, max(seconds, 5.0), end)


def _run_of(launch: Launch, name: str, at: float, seconds: float, end: Reason) -> SimulatedAttempt:
    parts = launch.place.placement.parts if launch.place.placement else ()
    return SimulatedAttempt(
        key=launch.key,
        name=name,
        node=",".join(part.node for part in parts),
        gpus=tuple(uuid for part in parts for uuid in part.gpu_uuids),
        submitted=at,
        seconds=seconds,
        end=str(end),
        memory=launch.limits.memory or 0,
    )


class RunStore:
    """The runs of one simulated cluster, one small file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, tuple[int, SimulatedAttempt]] = {}

    def get(self, key: str) -> SimulatedAttempt | None:
        path = self.folder / f"{key}.json"
        try:
            changed = path.stat().st_mtime_ns
            if key not in self._known or self._known[key][0] != changed:
                self._known[key] = changed, _run(json.loads(path.read_text()))
            return self._known[key][1]
        except FileNotFoundError:
            return None

    def put(self, run: SimulatedAttempt) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{run.key}.json"
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(run)))
        part.replace(path)

    def delete(self, key: str) -> None:
        (self.folder / f"{key}.json").unlink(missing_ok=True)
        self._known.pop(key, None)

    def all(self) -> list[SimulatedAttempt]:
        """Return every run that has not been forgotten."""
        keys = sorted(path.stem for path in self.folder.glob("*.json"))
        return [run for key in keys if (run := self.get(key))]


def _run(stored: dict[str, object]) -> SimulatedAttempt:
    return SimulatedAttempt(**{**stored, "gpus": tuple(stored["gpus"])})  # type: ignore[arg-type]
