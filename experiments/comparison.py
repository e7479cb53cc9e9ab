"""Compare runs: their configuration, what differs between two by likely effect, their files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import log
from typing import Annotated, Any, TypedDict, cast

from experiments import artifacts
from experiments.lists import STATES
from experiments.models import Artifact, Run, RunStatus
from experiments.reproduction import SOURCE_TAGS, is_source_the_job
from experiments.run_keys import OWN_TAGS
from experiments.selectors import find_run
from jobs.models import Job
from jobs.selectors import comparison
from jobs.selectors.comparison import (
    MOST,
    ComparisonShape,
    ConfigDifference,
    config_of,
    gpu_use,
    metric_summaries,
    number_of,
)
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from workspaces.access.actors import Actor

MOST_FILES = 200  # paths that are compared
HIGH, MEDIUM, LOW = (
    Message("High", context="text, experiments"),
    Message("Medium", context="text, experiments"),
    Message("Low", context="text, experiments"),
)
# Groups of the configuration by likely effect: pattern of the key, title, effect.
_GROUPS = (
    (
        re.compile(r"code\.commit|code\.version"),
        Message("Code", context="part of a comparison"),
        HIGH,
    ),
    (re.compile(r"data\."), Message("Data", context="part of a comparison"), HIGH),
    (
        re.compile(
            r"parameters\.(.*[._-])?(seed|name|run|dir|path|output.*|log.*|device|workers)$"
        ),
        Message("Parameters", context="part of a comparison"),
        LOW,
    ),
    (re.compile(r"parameters\."), Message("Parameters", context="part of a comparison"), HIGH),
    (
        re.compile(r"image\b"),
        Message("Image", context="part of a comparison, container image"),
        MEDIUM,
    ),
    (
        re.compile(r"(run|setup|launcher)\b"),
        Message("Command", context="part of a comparison"),
        MEDIUM,
    ),
    (re.compile(r"envs\."), Message("Environment", context="part of a comparison"), MEDIUM),
    (
        re.compile(r"(environment|code)\."),
        Message("Environment", context="part of a comparison"),
        LOW,
    ),
    (
        re.compile(r"(resources|num_nodes)\b"),
        Message("Resources", context="part of a comparison"),
        MEDIUM,
    ),
    (re.compile(r"hardware\."), Message("Hardware", context="part of a comparison"), LOW),
    (re.compile(r"tags\."), Message("Tags", context="part of a comparison"), LOW),
)
_OTHER = (Message("Spec", context="text, experiments"), LOW)
_EFFECTS = (HIGH, MEDIUM, LOW)


class RankedDifferenceShape(TypedDict):
    key: str
    group: str
    effect: Annotated[str, "High, Medium or Low."]
    level: Annotated[int, "1 for the likeliest effect, to 3."]
    before: Any
    after: Any
    factor: Annotated[float | None, "Of numbers: after / before."]


class RunComparisonShape(ComparisonShape):
    ranked: Annotated[
        list[RankedDifferenceShape], "Of the first and the last run, the likeliest effect first."
    ]


@dataclass(frozen=True)
class RankedDifference:
    """A difference of two runs. `effect` is High, Medium or Low; `factor` of numbers, such as 3."""

    key: str
    group: Message
    effect: Message
    before: Any
    after: Any
    factor: float | None = None

    @property
    def level(self) -> int:
        """Return 1 for the likeliest effect, to 3."""
        return _EFFECTS.index(self.effect) + 1

    @property
    def setting(self) -> comparison.ConfigDifference:
        """Return the setting that differs, which has its name for people."""
        return comparison.ConfigDifference(self.key, [self.before, self.after], is_numeric=False)


def chosen_runs(actor: Actor, texts: Iterable[str]) -> list[Run]:
    """Return the runs that a query names: repeated, or separated by commas or spaces.

    Raises NotFound for one that the actor may not see, and InvalidInput for more than ten.
    """
    names = list(dict.fromkeys(filter(None, re.split(r"[,\s]+", ",".join(texts)))))
    if len(names) > MOST:
        raise InvalidInput.at(
            "runs", Message("choose at most {most} runs to compare", most=str(MOST))
        )
    runs = [find_run(actor, name) for name in names]
    return list({run.id: run for run in runs}.values())


def compared(run: Run) -> comparison.ComparedRun:
    """Return a run as `jobs.selectors.comparison` compares it."""
    ended = run.ended_ms
    return comparison.ComparedRun(
        id=run.id.hex,
        name=run.name,
        url=f"/{run.org.slug}/runs/{run.id.hex}",
        state=STATES[RunStatus(run.status)],
        config=configuration(run),
        metrics=metric_summaries(run.series_owner),
        facts={
            "owner": {"email": run.owner.email, "name": run.owner.display_name},
            "experiment": run.experiment.name,
            "duration_seconds": (ended - run.started_ms) / 1000 if ended else None,
            "gpus": run.job.resources.get("gpu", 0) if run.job else None,
            "gpu_utilization": gpu_use(run.job) if run.job else None,
        },
    )


def configuration(run: Run) -> dict[str, Any]:
    """Return the flat configuration: code, data, params, the spec of the job, hardware, tags."""
    found: dict[str, Any] = {}
    if run.job:
        found |= config_of(run.job) | dict(_hardware(run.job))
    found |= {f"parameters.{name}": value for name, value in run.params.items()}
    for tag, key in SOURCE_TAGS.items():
        if (value := run.tags.get(tag)) and not (key == "source" and is_source_the_job(run)):
            found[f"code.{key}"] = value
    for given in run.inputs:
        dataset = given.get("dataset") or {}
        found[f"data.{dataset.get('name', '')}"] = dataset.get("digest", "")
    found |= {f"tags.{k}": v for k, v in run.tags.items() if not OWN_TAGS.match(k)}
    return found


def _hardware(job: Job) -> Iterable[tuple[str, Any]]:
    kinds = [name.removeprefix("gpu.") for name in job.resources if name.startswith("gpu.")]
    if kinds:
        yield "hardware.gpu", ", ".join(kinds)
    yield "hardware.cluster", job.cluster.name
    if job.node:
        yield "hardware.nodes", ", ".join(job.nodes or [job.node])


def ranked(differences: Sequence[ConfigDifference]) -> list[RankedDifference]:
    """Return the differences of two runs, those with the most likely effect first."""
    found = []
    for one in differences:
        before, after = one.values[0], one.values[-1]
        group, effect = next(
            ((title, effect) for shape, title, effect in _GROUPS if shape.match(one.key)), _OTHER
        )
        found.append(
            RankedDifference(one.key, group, effect, before, after, _factor(before, after))
        )

    def place_of(key: str) -> int:
        found = (n for n, (shape, *_rest) in enumerate(_GROUPS) if shape.match(key))
        return next(found, len(_GROUPS))

    def rank(one: RankedDifference) -> tuple[int, int, float, str]:
        size = abs(log(one.factor)) if one.factor and one.factor > 0 else 0.0
        return (_EFFECTS.index(one.effect), place_of(one.key), -size, one.key)

    return sorted(found, key=rank)


def compared_runs(runs: Sequence[comparison.ComparedRun]) -> RunComparisonShape:
    """Return the comparison as JSON, with the differences of the first and the last run."""
    differences = ranked(comparison.differences(runs))
    rows = [asdict(one) | {"level": one.level} for one in differences]
    return {
        **comparison.comparison(runs),
        "ranked": cast("list[RankedDifferenceShape]", rows),
    }


def _factor(before: Any, after: Any) -> float | None:
    """Return by how much a number has grown; None unless both are numbers of the same sign."""
    first, second = number_of(before), number_of(after)
    if first is None or second is None or first * second <= 0:
        return None
    return second / first


@dataclass(frozen=True)
class ComparedFile:
    """A path with the size of each run's file, None where it is missing."""

    path: str
    sizes: list[int | None]
    is_same: bool


def compared_files(runs: Sequence[Run]) -> list[ComparedFile]:
    """Return the paths of all runs' files, those of several runs first."""
    found: dict[str, dict[Any, Artifact]] = {}
    for run in runs:
        for path, row in artifacts.files_of(run).items():
            found.setdefault(path, {})[run.id] = row
    paths = sorted(found, key=lambda path: (-len(found[path]), path))[:MOST_FILES]
    return [
        ComparedFile(
            path,
            [found[path][run.id].size if run.id in found[path] else None for run in runs],
            len(found[path]) == len(runs)
            and len({row.sha256 for row in found[path].values()}) == 1,
        )
        for path in paths
    ]
