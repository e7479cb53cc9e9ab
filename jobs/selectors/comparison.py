"""Compare runs: configuration that differs, summaries of metrics, and the best run.

`ComparedRun` is all that a comparison needs, so other things than jobs can be compared the same way.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, NotRequired, TypedDict, cast

from jobs.models import Attempt, Job
from jobs.selectors.jobs import find_job
from jobs.selectors.metrics import first_tasks, unit_of
from jobs.selectors.representations import job_row
from portal import series
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.core.shapes import PersonShape, Time
from portal.series import SeriesData
from schedulers.states import State
from workspaces.access.actors import Actor

LEAST, MOST = 2, 10
_LOWER_IS_BETTER = re.compile(
    r"loss|error|perplexity|latency|duration|entropy|regret|divergence|(?<!per_)(?<!/)seconds"
    r"|(^|[^a-z])(ppl|wer|cer|ter|eer|mae|mse|msle|rmse|rmsle|mape|smape|nrmse|nll|fid|kid|kl|brier"
    r"|bpb|bpc|bits_per_byte|bits_per_char|lpips|err|l1|l2|rmsd|mlogloss|time|epe)($|[^a-z])",
    re.IGNORECASE,
)
# Neither direction is better: settings, progress, and use of the machine.
_NEITHER = re.compile(
    r"^(system|gpu|node)[/.]|(^|[^a-z])(lr|learning_rate|epoch|step|global_step)($|[^a-z])",
    re.IGNORECASE,
)
_GPU_USE = "gpu.utilization"


class MetricSummaryShape(TypedDict):
    name: str
    unit: str
    last: float
    minimum: float
    maximum: float
    is_lower_better: bool
    best: float


class ConfigDifferenceShape(TypedDict):
    key: str
    values: Annotated[list[Any], "In the order of `runs`; null where it is not set."]
    is_numeric: bool


class ComparedShape(TypedDict):
    id: str
    name: str
    url: str
    state: Annotated[str, "State of a job."]
    config: dict[str, Any]
    metrics: dict[str, MetricSummaryShape]
    owner: PersonShape
    duration_seconds: float | None
    gpus: int | None
    gpu_utilization: Annotated[float | None, "0 to 1."]
    number: NotRequired[Annotated[int, "Of a job."]]
    team: NotRequired[Annotated[str, "Of a job."]]
    created_at: NotRequired[Annotated[Time, "Of a job."]]
    experiment: NotRequired[Annotated[str, "Of a run."]]


class ComparisonShape(TypedDict):
    runs: list[ComparedShape]
    differences: list[ConfigDifferenceShape]
    metrics: Annotated[list[str], "Those of most runs first."]
    best: Annotated[dict[str, str], "Id of the best run of each metric that has a direction."]


@dataclass(frozen=True)
class MetricSummary:
    """One metric of a run; `best` is its minimum if lower is better, else its maximum."""

    name: str
    unit: str
    last: float
    minimum: float
    maximum: float
    is_lower_better: bool

    @property
    def best(self) -> float:
        return self.minimum if self.is_lower_better else self.maximum


@dataclass(frozen=True)
class ComparedRun:
    """A run to compare. `config` is flat: dotted names and plain values."""

    id: str
    name: str
    url: str
    state: Annotated[str, "State of a job."]
    config: Mapping[str, Any]
    metrics: Mapping[str, MetricSummary]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ConfigDifference:
    """A key of the configuration with the value of each run; None where it is not set."""

    key: str
    values: list[Any]
    is_numeric: bool

    @property
    def title(self) -> Message | str:
        """Return the name of the setting as the form of a job has it."""
        return _SETTINGS.get(self.key) or (self.key.partition(".")[2] if self.kind else self.key)

    @property
    def kind(self) -> Message | None:
        """Return what a setting with a name of its own is, such as an environment variable."""
        return _KINDS.get(self.key.partition(".")[0]) if "." in self.key else None


_KINDS = {
    "parameters": Message("option", context="setting of a job"),
    "envs": Message("variable", context="setting of a job"),
    "inputs": Message("input", context="setting of a job"),
    "labels": Message("label", context="setting of a job"),
}
_SETTINGS = {
    "run": Message("Command", context="setting of a job"),
    "image": Message("Image", context="setting of a job"),
    "num_nodes": Message("Nodes", context="setting of a job"),
    "experiment": Message("Experiment", context="setting of a job"),
    "resources.accelerators": Message("GPUs", context="setting of a job"),
    "resources.cpus": Message("CPU cores", context="setting of a job"),
    "resources.memory": Message("Memory", context="setting of a job"),
    "policy.max_runtime": Message("Max runtime", context="setting of a job"),
    "policy.pool": Message("Pool", context="setting of a job"),
    "policy.priority": Message("Priority", context="setting of a job"),
    "policy.retries": Message("Retries", context="setting of a job"),
}


def differences(runs: Sequence[ComparedRun]) -> list[ConfigDifference]:
    """Return the keys whose values differ, parameters and environment first."""
    keys = sorted({key for run in runs for key in run.config}, key=lambda key: (_group(key), key))
    found = []
    for key in keys:
        values = [run.config.get(key) for run in runs]
        if any(value != values[0] for value in values):
            is_numeric = all(number_of(value) is not None for value in values)
            found.append(ConfigDifference(key, values, is_numeric))
    return found


def metric_names(runs: Sequence[ComparedRun]) -> list[str]:
    """Return the names of all metrics: those of most runs first, validation loss before others."""
    names = {name for run in runs for name in run.metrics}

    def rank(name: str) -> tuple[int, int, int, str]:
        is_loss = "loss" in name.lower()
        is_held_out = re.match(r"(val|valid|validation|eval|test)[/_.]", name) is not None
        return (-sum(name in run.metrics for run in runs), not is_loss, not is_held_out, name)

    return sorted(names, key=rank)


def best_run(runs: Sequence[ComparedRun], metric: str) -> ComparedRun | None:
    """Return the run with the best value of a metric; None if none has it, or none is better."""
    having = [run for run in runs if metric in run.metrics]
    if not having or _NEITHER.search(metric):
        return None
    sign = 1 if having[0].metrics[metric].is_lower_better else -1
    return min(having, key=lambda run: sign * run.metrics[metric].best)


def comparison(runs: Sequence[ComparedRun]) -> ComparisonShape:
    """Return the comparison as JSON."""
    names = metric_names(runs)
    best = {name: found.id for name in names if (found := best_run(runs, name))}
    return {
        "runs": [_compared(run) for run in runs],
        "differences": [
            {"key": one.key, "values": one.values, "is_numeric": one.is_numeric}
            for one in differences(runs)
        ],
        "metrics": names,
        "best": best,
    }


def _compared(run: ComparedRun) -> ComparedShape:
    row = {
        "id": run.id,
        "name": run.name,
        "url": run.url,
        "state": run.state,
        **run.facts,
        "config": dict(run.config),
        "metrics": {
            name: asdict(metric) | {"best": metric.best} for name, metric in run.metrics.items()
        },
    }
    return cast(ComparedShape, row)


def is_lower_better(metric: str) -> bool:
    """Return whether a smaller value of a metric is better, by its name."""
    return _LOWER_IS_BETTER.search(metric) is not None


def number_of(value: Any) -> float | None:
    """Return a number, also one that is written as text such as "3e-4"; else None."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) != float("inf") and number == number else None


# --- Jobs ---


def chosen_jobs(actor: Actor, texts: Iterable[str]) -> list[Job]:
    """Return the jobs that a query names: repeated, or separated by commas or spaces.

    Raises NotFound for one that the actor may not see, and InvalidInput for more than ten.
    """
    names = [name.lstrip("#") for name in re.split(r"[,\s]+", ",".join(texts)) if name.lstrip("#")]
    unique = list(dict.fromkeys(names))
    if len(unique) > MOST:
        raise InvalidInput.at(
            "jobs", Message("choose at most {most} jobs to compare", most=str(MOST))
        )
    jobs = [find_job(actor, name) for name in unique]
    return list({job.id: job for job in jobs}.values())


def run_of_job(job: Job) -> ComparedRun:
    """Return a job as a run."""
    row = job_row(job)
    end = job.finished_at or (None if State(job.state).is_final else clock.now())
    return ComparedRun(
        id=str(job.number),
        name=f"#{job.number} {job.name}",
        url=row["page"],
        state=row["state"],
        config=config_of(job),
        metrics=metric_summaries(f"job:{job.id.hex}"),
        facts={
            "number": job.number,
            "owner": row["owner"],
            "team": row["team"],
            "created_at": row["created_at"],
            "duration_seconds": round((end - job.started_at).total_seconds())
            if job.started_at and end
            else None,
            "gpus": row["resources"]["gpus"],
            "gpu_utilization": gpu_use(job),
        },
    )


def config_of(job: Job) -> dict[str, Any]:
    """Return the flat configuration: the spec, and options of its command as `parameters`."""
    spec = {name: value for name, value in job.spec.items() if name != "name"}
    flat = dict(_flat("", spec))
    flat |= {f"parameters.{name}": value for name, value in _options(str(spec.get("run", "")))}
    return flat


def _flat(prefix: str, value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key), inner)
    elif isinstance(value, list):
        yield prefix, ", ".join(str(item) for item in value)
    elif value not in (None, "", {}):
        yield prefix, value


def _options(command: str) -> Iterable[tuple[str, str]]:
    """Yield the options of a command line, such as ("lr", "3e-4") of `--lr 3e-4`."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:  # an open quote: a script in another language
        return
    for word, following in zip(words, [*words[1:], ""], strict=True):
        found = re.fullmatch(r"--?([A-Za-z][\w.-]*)(=(.*))?", word, re.DOTALL)
        if found is None:
            continue
        if found[2]:
            yield found[1], found[3]
        elif following and not re.match(r"-[A-Za-z-]", following):
            yield found[1], following


def _group(key: str) -> int:
    order = ("parameters.", "envs.", "labels.", "resources.")
    return next((n for n, prefix in enumerate(order) if key.startswith(prefix)), len(order))


def metric_summaries(owner: str) -> dict[str, MetricSummary]:
    """Summarize the series of a job or run; the tasks of an array together."""
    found: dict[str, list[SeriesData]] = {}
    for data in series.query(owner):
        if any(value is not None for value in data.values):
            found.setdefault(data.name, []).append(data)
    return {name: _summary(name, parts) for name, parts in found.items()}


def _summary(name: str, parts: Sequence[SeriesData]) -> MetricSummary:
    values = [value for data in parts for value in data.values if value is not None]
    is_lower = is_lower_better(name)
    lasts = [next(v for v in reversed(data.values) if v is not None) for data in parts]
    return MetricSummary(
        name=name,
        unit=parts[0].unit or unit_of(name),
        last=lasts[0] if len(lasts) == 1 else (min(lasts) if is_lower else max(lasts)),
        minimum=min(values),
        maximum=max(values),
        is_lower_better=is_lower,
    )


def gpu_use(job: Job) -> float | None:
    """Return the mean GPU utilization (0 to 1) of the run; None without measurements."""
    attempts: list[Attempt] = first_tasks(job)
    values = [
        value
        for attempt in attempts
        for data in series.query(f"attempt:{attempt.id.hex}", names=[_GPU_USE], max_points=300)
        for value in data.values
        if value is not None
    ]
    return round(sum(values) / len(values), 4) if values else None
