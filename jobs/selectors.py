"""Query jobs within what the actor may see."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import F, Func, Q, QuerySet, TextField, Value

from jobs.models import Attempt, Job
from jobs.representations import listed
from portal.core.errors import InvalidInput, NotFound
from schedulers.spec.names import LABEL_PATTERN
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission

MAX_PAGE = 200


@dataclass(frozen=True)
class Page:
    """A keyset page, newest first; cursors are opaque."""

    items: list[Job]
    next: str | None
    previous: str | None


def visible_jobs(actor: Actor) -> QuerySet[Job]:
    """Return the jobs of the current organization that the actor may read."""
    teams = actor.teams_where(Permission.JOBS_READ)
    rows = Job.objects.all()
    return rows if teams is None else rows.filter(team_id__in=teams)


def find_job(actor: Actor, name: str) -> Job:
    """Return a job by number ("12", "#12") or id.

    Raises NotFound, also for a job that the actor may not see.
    """
    by: dict[str, object] | None = None
    if re.fullmatch(r"#?[0-9]{1,18}", name):
        by = {"number": int(name.removeprefix("#"))}
    elif re.fullmatch(r"[0-9a-fA-F-]{32,36}", name):
        try:
            by = {"id": UUID(name)}
        except ValueError:
            by = None
    job = listed(visible_jobs(actor)).filter(**by).first() if by else None
    if job is None:
        raise NotFound(f"There is no job {name[:40]} that you can see.")
    return job


def find_attempt(job: Job, index: int = 0, ordinal: int | None = None) -> Attempt:
    """Return an attempt of one task: the current one, or the one with this ordinal.

    Raises NotFound.
    """
    rows = Attempt.objects.select_related("job").filter(job=job, index=index)
    attempt = (
        rows.filter(is_current=True) if ordinal is None else rows.filter(ordinal=ordinal)
    ).first()
    if attempt is None:
        raise NotFound(f"Job #{job.number} has no such attempt.")
    return attempt


def filtered(actor: Actor, filters: Mapping[str, str]) -> QuerySet[Job]:
    """Filter visible jobs by state, team, owner, cluster, pool, q, name and label.

    Raises InvalidInput for invalid values.
    """
    rows = visible_jobs(actor)
    if states := _words(filters.get("state", "")):
        rows = rows.filter(state__in=[_state(word) for word in states])
    if teams := _words(filters.get("team", "")):
        rows = rows.filter(team__slug__in=teams)
    if owner := filters.get("owner", "").strip():
        rows = (
            rows.filter(owner_id=actor.user_id)
            if owner == "me"
            else rows.filter(owner__email=owner.lower())
        )
    for place in ("cluster", "pool"):
        if names := _words(filters.get(place, "")):
            rows = rows.filter(**{f"{place}__name__in": names})
    if name := filters.get("name", "").strip():
        rows = rows.filter(name=name)
    if label := filters.get("label", "").strip():
        key, _, value = label.partition(":")
        if not re.fullmatch(LABEL_PATTERN, key):
            raise InvalidInput.at(
                "label", f"must be key:value; {key[:40]!r} is not the key of a label"
            )
        rows = (
            rows.filter(Q(labels__contains={key: value}))
            if _has_contains()
            else _label_on_sqlite(rows, key, value)
        )
    return _search(rows, filters.get("q", "").strip())


def page_of(
    rows: QuerySet[Job], *, limit: int = 50, cursor: str = "", ascending: bool = False
) -> Page:
    """Return up to `limit` rows after (or before) the cursor; never counts rows.

    Raises InvalidInput for an invalid cursor.
    """
    limit = min(max(limit, 1), MAX_PAGE)
    direction, mark = _read_cursor(cursor)
    down = (direction != "p") != ascending
    if mark is not None:
        rows = rows.filter(number__lt=mark) if down else rows.filter(number__gt=mark)
    found = list(listed(rows).order_by("-number" if down else "number")[: limit + 1])
    more, found = len(found) > limit, found[:limit]
    if direction == "p":
        found.reverse()
    if not found:
        return Page([], None, None)
    has_next, has_previous = (True, more) if direction == "p" else (more, mark is not None)
    return Page(
        found,
        f"n{found[-1].number}" if has_next else None,
        f"p{found[0].number}" if has_previous else None,
    )


def _search(rows: QuerySet[Job], q: str) -> QuerySet[Job]:
    """Match a number exactly and names by prefix, which an index supports."""
    if not q:
        return rows
    if re.fullmatch(r"#?[0-9]{1,18}", q):
        return rows.filter(number=int(q.removeprefix("#")))
    return (
        rows.filter(name__gte=q, name__lt=q + "\U0010ffff")
        if not _has_contains()
        else rows.filter(name__startswith=q)
    )


def _words(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _state(word: str) -> State:
    try:
        return State.of(word)
    except KeyError:
        raise InvalidInput.at(
            "state", f"{word[:40]!r} is not a state; use one of {', '.join(s.word for s in State)}"
        ) from None


def _read_cursor(cursor: str) -> tuple[str, int | None]:
    if not cursor:
        return "", None
    if not re.fullmatch(r"[np][0-9]{1,18}", cursor):
        raise InvalidInput.at("cursor", "is not a valid cursor")
    return cursor[0], int(cursor[1:])


def _has_contains() -> bool:
    return connection.features.supports_json_field_contains


def _label_on_sqlite(rows: QuerySet[Job], key: str, value: str) -> QuerySet[Job]:
    """Filter by label on SQLite, which has no JSON containment; the path is a bound value."""
    path = '$."' + key.replace('"', "") + '"'
    found = Func(F("labels"), Value(path), function="json_extract", output_field=TextField())
    return rows.annotate(label_text=found).filter(label_text=value)
