"""Datasets and checkpoints of the demo: real small files, with versions, tags and a branch."""

from __future__ import annotations

import json
import math
import random
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from datasets import services
from datasets.models import Repository, RepositoryKind, Version, Visibility
from datasets.services import Add, Change, Delete
from demo.pace import Action
from portal.core import clock
from workspaces.access.actors import Actor, actor_of
from workspaces.models import Organization, Team, TeamMembership, User
from workspaces.tenancy.scope import org_scope

Files = Mapping[str, bytes | None]  # None deletes


@dataclass(frozen=True)
class Step:
    """A version: its message, files, tag, and how many days ago it was made."""

    message: str
    days: float
    files: Callable[[random.Random], Files]
    tag: str = ""


@dataclass(frozen=True)
class Example:
    """A repository with its versions, the first one first."""

    kind: str
    name: str
    team: str
    description: str
    steps: tuple[Step, ...]
    visibility: str = Visibility.TEAM
    shared_with: str = ""


def plan(org: Organization, seed: int = 1) -> Iterator[tuple[datetime, Action]]:
    """Yield what writes the repositories of the demo, and when."""
    now = clock.now()
    for example in EXAMPLES:
        with org_scope(org.id):
            people = _people(org, Team.objects.get(slug=example.team))
        rng = random.Random(f"{seed} {example.name}")
        created = now - timedelta(days=example.steps[0].days + 0.1)
        yield created, partial(_create, org, example, people[0])
        for number, step in enumerate(example.steps):
            actor = people[number % len(people)]
            yield now - timedelta(days=step.days), partial(_add, org, example, step, actor, rng)


def _people(org: Organization, team: Team) -> list[Actor]:
    members = TeamMembership.objects.filter(team=team).values("user_id")
    users = User.objects.filter(id__in=members).order_by("email")
    return [actor_of(user).enter(org) for user in users]


def _create(org: Organization, example: Example, actor: Actor) -> None:
    with org_scope(org.id):
        row = services.create_repository(
            actor=actor,
            team=Team.objects.get(slug=example.team),
            kind=example.kind,
            name=example.name,
            description=example.description,
            visibility=example.visibility,
        )
        if example.shared_with:
            other = Team.objects.get(slug=example.shared_with)
            services.share_repository(actor=actor, repository=row, team=other)


def _add(org: Organization, example: Example, step: Step, actor: Actor, rng: random.Random) -> None:
    with org_scope(org.id):
        row = Repository.objects.select_related("org", "team").get(
            kind=example.kind, name=example.name
        )
        version = _commit(row, actor, step, step.files(rng))
        if step.tag:
            services.set_tag(actor=actor, repository=row, name=step.tag, version=version)


def _commit(row: Repository, actor: Actor, step: Step, files: Files) -> Version:
    changes: list[Change] = []
    for path, data in files.items():
        if data is None:
            changes.append(Delete(path))
            continue
        stored = services.put_file(actor=actor, repository=row, chunks=[data], size=len(data))
        changes.append(Add(path, stored.sha256))
    return services.commit(actor=actor, repository=row, changes=changes, message=step.message)


# Products: photos by class, with labels

_CLASSES = ("backpack", "bottle", "lamp", "shoe", "watch")
_PRODUCTS = """---
license: cc-by-4.0
task_categories: [image-classification]
---
# Product images

Photos of the online shop, one folder per class, **cleaned and deduplicated**. Labels are in `labels.csv`.

| split | images | classes |
|---|---|---|
| train | 20 | 5 |
| test | 5 | 5 |

## Use

```sh
muster dataset download product-images@v1.2 ./data
```

Images are 96 × 96 pixels in sRGB. People and addresses were removed in `v1.1`; don't use `v1.0`.
"""


def _photos(split: str, each: int) -> Callable[[random.Random], Files]:
    def files(rng: random.Random) -> Files:
        return {
            f"{split}/{name}/{number:04d}.png": _photo(rng, at)
            for at, name in enumerate(_CLASSES)
            for number in range(each)
        }

    return files


def _photo(rng: random.Random, shape: int, side: int = 96) -> bytes:
    """Return a soft spot of a colour on a plain ground."""
    x0, y0, radius = rng.uniform(30, 66), rng.uniform(30, 66), rng.uniform(14, 30)
    hue = (shape * 1.3 + rng.uniform(-0.2, 0.2)) * 1.1
    colour = [127 + 110 * math.sin(hue + part * 2.1) for part in range(3)]
    ground = rng.uniform(222, 246)

    def pixel(x: int, y: int) -> tuple[int, int, int]:
        near = max(abs(x - x0), abs(y - y0)) if shape % 2 else math.hypot(x - x0, y - y0)
        share = 1 / (1 + math.exp((near - radius) / 1.5))
        shade = 1 - 0.3 * (y - y0 + radius) / (2 * radius + 1)
        r, g, b = (round(ground * (1 - share) + part * shade * share) for part in colour)
        return min(max(r, 0), 255), min(max(g, 0), 255), min(max(b, 0), 255)

    return png(side, side, pixel)


def png(width: int, height: int, pixel: Callable[[int, int], tuple[int, int, int]]) -> bytes:
    """Return an image whose colours are those of `pixel(x, y)`."""
    lines = b"".join(
        b"\x00" + bytes(part for x in range(width) for part in pixel(x, y)) for y in range(height)
    )

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
    return start + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def _labels(count: int) -> bytes:
    rows = ["path,class,width,height,verified"]
    rows += [
        f"train/{name}/{number:04d}.png,{name},96,96,{'yes' if number % 3 else 'no'}"
        for name in _CLASSES
        for number in range(count)
    ]
    return ("\n".join(rows) + "\n").encode()


# Text: questions, reviews, readings

_TOPICS = ("orders", "returns", "payments", "delivery", "warranty")
_ASKED = (
    "Where do I find my",
    "How do I change something about",
    "Who can help me on a Sunday with",
    "Why was the page empty yesterday about",
)


_PROMPTS = (
    "Summarize the text.",
    "Translate it to Korean.",
    "List the names.",
    "Say what is missing.",
)


def _questions(number: int) -> Callable[[random.Random], Files]:
    def lines(rng: random.Random, count: int) -> bytes:
        found = []
        for n in range(count):
            topic = rng.choice(_TOPICS)
            found.append(
                json.dumps(
                    {
                        "id": f"q{n:05d}",
                        "topic": topic,
                        "question": f"{rng.choice(_ASKED)} {topic}?",
                        "answer": f"See the page about {topic} in the help centre.",
                        "rating": rng.randint(1, 5),
                    }
                )
            )
        return ("\n".join(found) + "\n").encode()

    return lambda rng: {
        "train.jsonl": lines(rng, number),
        "validation.jsonl": lines(rng, number // 10),
        "README.md": (
            f"# Support questions\n\n{number:,} questions to the help desk with approved answers, "
            "one JSON object per line.\n\n- `topic` is one of "
            + ", ".join(f"`{topic}`" for topic in _TOPICS)
            + "\n- `rating` is the customer's, from 1 to 5\n\nNames and numbers were removed.\n"
        ).encode(),
    }


def _calls(number: int) -> Callable[[random.Random], Files]:
    def files(rng: random.Random) -> Files:
        rows = ["id,seconds,topic,transcript"]
        for n in range(number):
            topic = rng.choice(_TOPICS)
            rows.append(
                f"c{n:05d},{rng.uniform(20, 400):.0f},{topic},{rng.choice(_ASKED)} {topic}?"
            )
        return {"calls.csv": "\n".join(rows).encode()}

    return files


def _readings(day: int) -> Callable[[random.Random], Files]:
    def files(rng: random.Random) -> Files:
        rows = ["time,sensor,temperature,vibration,state"]
        for n in range(288):
            at = f"2026-0{1 + day // 28}-{1 + day % 28:02d}T{n // 12:02d}:{n % 12 * 5:02d}:00Z"
            heat = 41 + 6 * math.sin(n / 46) + rng.gauss(0, 0.4)
            rows.append(f"{at},press-{n % 4},{heat:.2f},{abs(rng.gauss(0.2, 0.05)):.3f},ok")
        return {f"readings/day-{day:03d}.csv": "\n".join(rows).encode()}

    return files


def _and(*parts: Callable[[random.Random], Files]) -> Callable[[random.Random], Files]:
    return lambda rng: {path: data for part in parts for path, data in part(rng).items()}


def _just(**files: bytes | str | None) -> Callable[[random.Random], Files]:
    named = {name.replace("__", "."): data for name, data in files.items()}
    return lambda rng: {
        name: data.encode() if isinstance(data, str) else data for name, data in named.items()
    }


# Checkpoints

_CONFIG = {"architectures": ["ResNet"], "depths": [3, 4, 6, 3], "num_labels": 5}


def weights(
    step: int, *, size: int = 4096, config: Mapping[str, object] = _CONFIG
) -> Callable[[random.Random], Mapping[str, bytes]]:
    """Return what makes the files of a checkpoint at a step."""

    def files(rng: random.Random) -> Mapping[str, bytes]:
        shapes = {"conv1.weight": [size // 64, 64], "fc.weight": [5, 64], "fc.bias": [5]}
        head, offset = {}, 0
        for name, shape in shapes.items():
            end = offset + 4 * math.prod(shape)
            head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, end]}
            offset = end
        text = json.dumps({"__metadata__": {"format": "pt", "step": str(step)}, **head}).encode()
        state = {"step": step, "epoch": step // 500, "lr": 3e-4 * 0.9 ** (step // 500)}
        return {
            "model.safetensors": struct.pack("<Q", len(text)) + text + rng.randbytes(offset),
            "trainer_state.json": json.dumps(state).encode(),
            "config.json": json.dumps(config).encode(),
        }

    return files


def _steps(card: str, *at: int) -> Iterator[Step]:
    for number, step in enumerate(at):
        files = weights(step) if number else _and(weights(step), _just(README__md=card))
        tag = "best" if number == len(at) - 2 else ""
        yield Step(f"Checkpoint of step {step:,}", 3 - number * 0.4, files, tag)


EXAMPLES = (
    Example(
        RepositoryKind.DATASET,
        "product-images",
        "vision",
        "Photos of products by class, cleaned, with labels",
        (
            Step(
                "Import the photos of the shop",
                40,
                _and(_photos("train", 4), lambda rng: {"labels.csv": _labels(4)}),
                "v1.0",
            ),
            Step(
                "Remove photos with people",
                31,
                lambda rng: {
                    "train/shoe/0003.png": None,
                    "train/watch/0003.png": None,
                    "labels.csv": _labels(3),
                },
                "v1.1",
            ),
            Step("Add a test split", 18, _photos("test", 1)),
            Step("Describe the data", 6, _just(README__md=_PRODUCTS), "v1.2"),
        ),
        Visibility.ORGANIZATION,
    ),
    Example(
        RepositoryKind.DATASET,
        "support-questions",
        "language",
        "Questions to the help desk with approved answers",
        (
            Step("First export", 25, _questions(400), "2026-01"),
            Step("Export of February", 4, _questions(520), "2026-02"),
        ),
        shared_with="vision",
    ),
    Example(
        RepositoryKind.DATASET,
        "press-readings",
        "vision",
        "Temperature and vibration of four presses, a file per day",
        tuple(Step(f"Readings of day {day}", 9 - day, _readings(day)) for day in range(1, 8)),
    ),
    Example(
        RepositoryKind.DATASET,
        "eval-prompts",
        "language",
        "Prompts of the weekly evaluation",
        (
            Step(
                "Start with four prompts",
                12,
                _just(
                    prompts__txt="\n".join(_PROMPTS),
                    README__md="# Prompts\n\nOne per line. Change them only together with the baseline.\n",
                ),
            ),
            Step(
                "Ask for sources",
                2,
                _just(
                    prompts__txt="\n".join(
                        ("Summarize the text in two sentences.", *_PROMPTS[1:], "Name the sources.")
                    )
                ),
            ),
        ),
        Visibility.PRIVATE,
    ),
    Example(
        RepositoryKind.DATASET,
        "service-calls",
        "speech",
        "Transcripts of calls to the service desk, with their lengths",
        (Step("Calls of the first quarter", 15, _calls(300), "2026-q1"),),
    ),
    Example(
        RepositoryKind.CHECKPOINT,
        "resnet50-products",
        "vision",
        "ResNet-50 on product-images",
        tuple(
            _steps(
                "# ResNet-50 on product images\n\nTrained on `product-images@v1.2`. "
                "`best` has the lowest validation loss.\n",
                500,
                1000,
                1500,
                2000,
                2500,
            )
        ),
        Visibility.ORGANIZATION,
    ),
    Example(
        RepositoryKind.CHECKPOINT,
        "press-anomaly",
        "vision",
        "Autoencoder that finds unusual readings of presses",
        tuple(_steps("# Press anomaly\n\nTrained on `press-readings`.\n", 500, 1000, 1500)),
    ),
    Example(
        RepositoryKind.CHECKPOINT,
        "llama-support-lora",
        "language",
        "LoRA adapter for answers of the help desk",
        tuple(_steps("# LoRA for support\n\nAdapter of rank 16.\n", 1000, 2000, 3000)),
    ),
)
