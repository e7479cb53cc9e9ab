"""Experiments of the demo: sweeps with believable curves, files, notes and runs that still go on."""

from __future__ import annotations

import json
import math
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from demo.datasets import png
from demo.pace import Action
from demo.recipes import SLUG
from experiments import artifacts, selectors, services
from experiments.models import Experiment, Run, RunStatus
from portal import series
from portal.background import every
from portal.core import clock
from workspaces.access.actors import Actor, actor_of
from workspaces.models import Organization, Team, TeamMembership, User
from workspaces.tenancy.scope import org_scope

DAYS, LIVE = 12, 10.0  # days of runs, seconds between points of those that go on
POINTS = 60  # of a curve
WITH_CURVES = 60  # newest runs of each experiment; older ones have their last point
WITH_FILES = 12
STEPS = 200  # between two points of a curve


@dataclass(frozen=True)
class Sweep:
    """An experiment: what is varied, and how a run's params decide what it reaches."""

    name: str
    team: str
    description: str
    runs: int
    hours: float
    choices: Mapping[str, Sequence[str]]
    quality: Callable[[Mapping[str, str]], float]  # 0 (worst) to 1
    metrics: tuple[str, str, str]  # loss of training, loss of validation, score
    loss: tuple[float, float]  # at the start and of the best run
    score: tuple[float, float]  # of the worst and the best run
    speed: tuple[str, float]
    data: tuple[str, str]
    running: int = 0


def _near(text: str, best: float, width: float) -> float:
    """Return 1 at the best value of a param, less the further away it is in decades."""
    return math.exp(-((math.log10(float(text) / best) / width) ** 2))


SWEEPS = (
    Sweep(
        "resnet50-augmentation",
        "vision",
        "Which augmentation and schedule reach 78% on the product images?",
        240,
        2.5,
        {
            "lr": ("3e-2", "1e-2", "3e-3", "1e-3", "3e-4"),
            "batch_size": ("128", "256", "512"),
            "weight_decay": ("1e-4", "5e-5", "1e-5"),
            "augmentation": ("none", "flip", "randaugment", "mixup"),
            "optimizer": ("sgd", "adamw"),
            "seed": ("1", "2", "3"),
        },
        lambda p: (
            0.55 * _near(p["lr"], 3e-3 if p["optimizer"] == "adamw" else 1e-2, 0.8)
            + 0.2 * {"none": 0.1, "flip": 0.5, "randaugment": 1.0, "mixup": 0.85}[p["augmentation"]]
            + 0.15 * _near(p["batch_size"], 256, 0.6)
            + 0.1 * _near(p["weight_decay"], 5e-5, 0.7)
        ),
        ("train/loss", "val/loss", "val/acc"),
        (6.9, 0.82),
        (0.41, 0.793),
        ("images/s", 2900.0),
        ("product-images", "3f9a61c2"),
        running=2,
    ),
    Sweep(
        "llama-8b-sft",
        "language",
        "Instruction tuning: LoRA rank and learning rate against the held-out loss.",
        72,
        6.0,
        {
            "learning_rate": ("1e-5", "2e-5", "5e-5", "1e-4", "3e-4"),
            "lora_rank": ("8", "16", "32", "64"),
            "lora_alpha": ("16", "32"),
            "warmup_ratio": ("0.0", "0.03", "0.1"),
            "base_model": ("llama-3.1-8b",),
            "seed": ("7", "8"),
        },
        lambda p: (
            0.7 * _near(p["learning_rate"], 5e-5, 0.6)
            + 0.2 * _near(p["lora_rank"], 32, 0.6)
            + 0.1 * (p["warmup_ratio"] != "0.0")
        ),
        ("train/loss", "eval/loss", "eval/rouge_l"),
        (2.4, 0.91),
        (0.21, 0.447),
        ("tokens/s", 41000.0),
        ("support-questions", "b71d0e55"),
        running=1,
    ),
    Sweep(
        "asr-conformer",
        "speech",
        "How many layers of the encoder are worth their cost?",
        36,
        4.0,
        {
            "lr": ("1e-3", "5e-4", "1e-4"),
            "layers": ("12", "16", "18"),
            "dropout": ("0.0", "0.1", "0.2"),
            "seed": ("1",),
        },
        lambda p: 0.6 * _near(p["lr"], 5e-4, 0.5) + 0.3 * (p["dropout"] == "0.1") + 0.1,
        ("train/loss", "val/loss", "val/wer"),
        (9.0, 1.3),
        (0.31, 0.082),
        ("hours_of_audio/s", 1.9),
        ("service-calls", "90cc12ab"),
    ),
)
_NOTES = (
    "Best so far. The gain comes from the schedule; check with two more seeds before merging.",
    "Diverged after warmup. Don't go above this learning rate without clipping.",
    "Same as the baseline within noise.",
)
_COMMITS = ("9f2c41d", "c04b7e8", "51aa3d0")


def plan(org: Organization, seed: int = 1) -> Iterator[tuple[datetime, Action]]:
    """Yield what writes the experiments of the demo, and when."""
    rng, now = random.Random(seed), clock.now()
    for sweep in SWEEPS:
        with org_scope(org.id):
            people = _people(org, Team.objects.get(slug=sweep.team))
        runs = [_draw(sweep, n, rng, now) for n in range(sweep.runs)]
        yield now - timedelta(days=DAYS + 1), partial(_create, org, sweep, people[0])
        for drawn in runs:
            yield drawn.written, partial(_write, org, sweep, rng.choice(people), drawn, rng)


def _create(org: Organization, sweep: Sweep, actor: Actor) -> None:
    with org_scope(org.id):
        services.create_experiment(
            actor=actor,
            team=Team.objects.get(slug=sweep.team),
            name=sweep.name,
            description=sweep.description,
        )


@every(LIVE)
def feed(_stop: threading.Event) -> None:
    """Log the next points of the demo's runs that go on."""
    org = Organization.objects.filter(slug=SLUG).first()
    if org is None:
        return
    with org_scope(org.id):
        rows = Run.objects.filter(status=RunStatus.RUNNING, job=None)
        runs = list(rows.select_related("owner", "experiment", "team", "org")[:10])
        points = selectors.last_metrics(runs)
        for run in runs:
            sweep = next((s for s in SWEEPS if s.name == run.experiment.name), None)
            if sweep is None or not run.params:
                continue
            step = max((point.step or 0 for point in points[run.id].values()), default=0)
            services.log_batch(
                actor=actor_of(run.owner).enter(org),
                run=run,
                metrics=_points(sweep, run.params, clock.now_ms(), step + STEPS // 10),
            )


def _people(org: Organization, team: Team) -> list[Actor]:
    members = TeamMembership.objects.filter(team=team).values("user_id")
    users = User.objects.filter(id__in=members).order_by("email")
    return [actor_of(user).enter(org) for user in users]


@dataclass(frozen=True)
class Drawn:
    """A run: its place in the sweep, and what chance decided."""

    number: int
    params: dict[str, str]
    status: str
    started_ms: int
    every_ms: int  # between two points
    points: int
    written: datetime


def _draw(sweep: Sweep, n: int, rng: random.Random, now: datetime) -> Drawn:
    left = sweep.runs - n
    params = {name: rng.choice(values) for name, values in sweep.choices.items()} | {"epochs": "30"}
    is_running = left <= sweep.running
    hours = sweep.hours * rng.uniform(0.85, 1.2)
    age = hours * 0.4 if is_running else DAYS * 24 * left / sweep.runs + hours
    draw = rng.random()
    status = (
        RunStatus.RUNNING
        if is_running
        else RunStatus.FAILED
        if draw < 0.05
        else RunStatus.KILLED
        if draw < 0.08
        else RunStatus.FINISHED
    )
    share = 0.4 if is_running else rng.uniform(0.1, 0.6) if draw < 0.08 else 1.0
    every, points = timedelta(hours=hours / POINTS), round(POINTS * share)
    start = now - timedelta(hours=age)
    return Drawn(
        n,
        params,
        status,
        round(start.timestamp() * 1000),
        round(every.total_seconds() * 1000),
        points,
        now if is_running else start + points * every,
    )


def _write(org: Organization, sweep: Sweep, actor: Actor, drawn: Drawn, rng: random.Random) -> None:
    with org_scope(org.id):
        experiment = Experiment.objects.select_related("team", "org").get(name=sweep.name)
        _write_run(sweep, experiment, actor, drawn, rng)


def _write_run(
    sweep: Sweep, experiment: Experiment, actor: Actor, drawn: Drawn, rng: random.Random
) -> None:
    n, params, last, started_ms = drawn.number, drawn.params, drawn.points, drawn.started_ms
    left = sweep.runs - n
    name = f"{sweep.name.partition('-')[0]}-{params.get('lr', params.get('learning_rate'))}-{n + 1:03d}"
    tags = {"mlflow.source.git.commit": _COMMITS[n * len(_COMMITS) // sweep.runs]}
    if rng.random() < 0.15:
        tags["purpose"] = rng.choice(("baseline", "ablation", "candidate"))
    if n % 17 == 0:
        tags["mlflow.note.content"] = _NOTES[n // 17 % len(_NOTES)]
    run = services.create_run(
        actor=actor, experiment=experiment, name=name, started_ms=started_ms, tags=tags
    )
    first = 1 if left <= WITH_CURVES else last
    points = [
        point
        for at in range(first, last + 1)
        for point in _points(sweep, params, started_ms + at * drawn.every_ms, at * STEPS)
    ]
    services.log_batch(actor=actor, run=run, params=params, metrics=points)
    name, digest = sweep.data
    dataset = {
        "name": name,
        "digest": digest,
        "source_type": "muster",
        "source": f"muster://{name}",
    }
    services.log_inputs(
        actor=actor,
        run=run,
        inputs=[{"dataset": dataset, "tags": {"mlflow.data.context": "training"}}],
    )
    if left <= WITH_FILES:
        for path, content in _files(sweep, params, rng):
            artifacts.put(actor, run, path, [content], size=len(content))
    if drawn.status != RunStatus.RUNNING:
        ended_ms = started_ms + last * drawn.every_ms
        services.update_run(actor=actor, run=run, status=drawn.status, ended_ms=ended_ms)


def _points(sweep: Sweep, params: Mapping[str, str], at_ms: int, step: int) -> list[series.Point]:
    """Return what a run logs at a step; it follows from the params."""
    quality = min(max(sweep.quality(params), 0.0), 1.0)
    noise = random.Random(f"{sorted(params.items())}{step}")
    done = 1 - math.exp(-4.0 * step / (POINTS * STEPS))
    start, best = sweep.loss
    floor = best + (start - best) * 0.35 * (1 - quality)
    train = floor + (start - floor) * (1 - done) + noise.gauss(0, 0.03 * (start - floor))
    held_out = floor * 1.08 + (start - floor) * (1 - done) + noise.gauss(0, 0.01 * start)
    low, high = sweep.score
    score = low + (high - low) * quality * done + noise.gauss(0, 0.006)
    values = (
        (sweep.metrics[0], max(train, 0.01)),
        (sweep.metrics[1], max(held_out, 0.01)),
        (sweep.metrics[2], score),
        (sweep.speed[0], sweep.speed[1] * noise.uniform(0.93, 1.02)),
    )
    return [series.Point(name, {}, at_ms, value, step=step) for name, value in values]


def _files(
    sweep: Sweep, params: Mapping[str, str], rng: random.Random
) -> Iterator[tuple[str, bytes]]:
    yield "config.json", json.dumps({"experiment": sweep.name, **params}).encode()
    rows = ["id,label,predicted,confidence"]
    for n in range(120):
        label = rng.randrange(10)
        right = rng.random() < 0.8
        rows.append(
            f"{n},{label},{label if right else rng.randrange(10)},{rng.uniform(0.4, 1):.3f}"
        )
    yield "predictions.csv", "\n".join(rows).encode()
    yield "requirements.txt", b"torch==2.9.1\ntorchvision==0.24.1\nmlflow==3.6.0\n"
    yield "plots/confusion.png", _confusion(rng)


def _confusion(rng: random.Random, classes: int = 10, cell: int = 24) -> bytes:
    """Return a confusion matrix as a PNG in shades of blue."""
    shares = [
        [rng.uniform(0.6, 0.95) if a == b else rng.random() ** 3 * 0.3 for b in range(classes)]
        for a in range(classes)
    ]

    def pixel(x: int, y: int) -> tuple[int, int, int]:
        share = shares[y // cell][x // cell]
        return round(247 - 200 * share), round(250 - 165 * share), 255 - round(60 * share)

    return png(classes * cell, classes * cell, pixel)
