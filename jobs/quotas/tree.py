"""Usage tree: organization → teams → people, with usage, reservations and what is left.

Five queries whatever the size; people are loaded for the one expanded team.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import UUID

from django.db.models import Count, Q
from django.utils.translation import gettext as _

from jobs.models import Attempt
from portal.core.formatting import bytes_text, number_text
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Quota, Team, TeamMembership
from workspaces.quotas.gpu_hours import Whose, next_reset, used_now, with_hours, without_limit
from workspaces.quotas.limits import GPU_HOURS, ORG, STORAGE, TEAM, USER, unit_of

PLAIN = ("gpu", "cpu", "memory", "jobs", GPU_HOURS, STORAGE)
PEOPLE = 200
_Waiting: TypeAlias = Mapping[Any, Mapping[str, int]]


@dataclass(frozen=True)
class Bar:
    """One meter in quota units.

    `used`: by running jobs. `reserved`: for jobs that do not run yet. `kept`: free but guaranteed
    to others. `left`: still available. Widths are percentages.
    """

    resource: str
    used: int = 0
    reserved: int = 0
    kept: int = 0
    limit: int | None = None
    guaranteed: int = 0

    @property
    def held(self) -> int:
        return self.used + self.reserved

    @property
    def left(self) -> int | None:
        return None if self.limit is None else max(self.limit - self.held - self.kept, 0)

    @property
    def is_over(self) -> bool:
        return self.limit is not None and self.held > self.limit

    @property
    def widths(self) -> list[tuple[str, float, float]]:
        """Return (segment, start, width) for drawing."""
        parts, at = [], 0.0
        for name, amount in (("used", self.used), ("reserved", self.reserved), ("kept", self.kept)):
            if amount > 0:
                parts.append((name, round(at, 2), round(self._share(amount), 2)))
                at += self._share(amount)
        return parts

    @property
    def mark(self) -> float | None:
        """Return the position of the guarantee."""
        return round(min(self._share(self.guaranteed), 99.4), 2) if self.guaranteed else None

    def _share(self, amount: int) -> float:
        whole = max(self.limit or 0, self.held + self.kept, self.guaranteed, 1)
        return 100 * amount / whole

    @property
    def tip(self) -> str:
        """Describe the whole bar."""
        if self.resource == GPU_HOURS:
            return _hours_tip(self)
        first = _("%(n)s is kept") if self.resource == STORAGE else _("%(n)s runs")
        labels = [
            first,
            _("%(n)s is held for jobs about to run"),
            _("%(n)s is kept free for guarantees"),
            _("%(n)s is left"),
            _("%(n)s is guaranteed"),
        ]
        amounts = (self.used, self.reserved, self.kept, self.left, self.guaranteed)
        return "; ".join(
            text % {"n": short(self.resource, n)}
            for text, n in zip(labels, amounts, strict=True)
            if n
        )

    @property
    def text(self) -> str:
        """Return "4 / 8"."""
        return short(self.resource, self.held) + (
            f" / {short(self.resource, self.limit)}" if self.limit is not None else ""
        )


def _hours_tip(bar: Bar) -> str:
    """Describe the bar of a monthly limit of GPU-hours."""
    left = [] if bar.left is None else [_("%(n)s is left") % {"n": short(bar.resource, bar.left)}]
    return "; ".join(
        [
            _("%(n)s used this month, what runs now included")
            % {"n": short(bar.resource, bar.used)},
            *left,
            _("begins anew on %(day)s") % {"day": f"{next_reset():%Y-%m-%d}"},
        ]
    )


@dataclass(frozen=True)
class Branch:
    """The organization, a team or a person. `who`: its key in forms. `note`: follows the name."""

    who: str
    name: str
    note: str
    bars: Mapping[str, Bar]
    people: list[Branch] = field(default_factory=list)
    is_open: bool = False
    is_cut: bool = False


@dataclass(frozen=True)
class Tree:
    """The usage tree. `classes`: resource classes in use or limited, else the default ones."""

    classes: list[str]
    top: Branch
    teams: list[Branch]
    is_empty: bool


def tree(actor: Actor, org: Organization, team: str = "", search: str = "") -> Tree:
    """Return the tree with the people of one team.

    Of other people's meters it has only those that the actor may change.
    """
    hours, waiting = used_now(), _reserved()
    rows = _by_subject(
        Quota.objects.filter(scope__in=(ORG, TEAM)),
        {whose: n for whose, n in hours.items() if whose[0] != USER},
    )
    classes = _classes(rows)
    top = Branch("org:", org.name, "", _bars(classes, rows.get(org.id, {}), waiting["org", org.id]))
    teams = [
        Branch(
            f"team:{t.slug}",
            t.name,
            t.slug,
            _bars(classes, rows.get(t.id, {}), waiting["team", t.id]),
            **_people(actor, t, classes, (waiting, hours), search) if t.slug == team else {},
        )
        for t in Team.objects.order_by("slug")
    ]
    return Tree(
        classes,
        top,
        teams,
        not any(
            q.used or q.limit is not None or q.guaranteed
            for found in rows.values()
            for q in found.values()
        ),
    )


def short(resource: str, amount: int) -> str:
    """Return the amount without its unit: "2.5", "16 GiB"."""
    if resource in ("memory", STORAGE):
        return bytes_text(amount) if amount else "0"
    return number_text(resource, amount)


def title(resource: str) -> str:
    """Return the column header: "GPUs (h100)"."""
    kind, _, model = resource.partition(".")
    words = {
        "memory": "memory",
        "jobs": "running jobs",
        GPU_HOURS: "GPU-hours a month",
        STORAGE: "logs kept",
    }.get(kind, unit_of(resource))
    return f"{words} ({model})" if model else words


def _people(
    actor: Actor,
    team: Team,
    classes: Iterable[str],
    now: tuple[_Waiting, Mapping[Whose, int]],
    search: str,
) -> dict[str, Any]:
    waiting, hours = now
    seats = TeamMembership.objects.filter(team=team).select_related("user").order_by("user__email")
    if search:
        seats = seats.filter(Q(user__email__icontains=search) | Q(user__name__icontains=search))
    if not actor.may(Permission.QUOTAS_WRITE):
        seats = seats.filter(user_id=actor.user_id)
    users = [seat.user for seat in seats[: PEOPLE + 1]]
    rows = _by_subject(
        Quota.objects.filter(scope=USER, subject_id__in=[user.id for user in users]),
        {(USER, user.id): hours[USER, user.id] for user in users if (USER, user.id) in hours},
    )
    made = [
        Branch(
            f"user:{u.email}",
            u.display_name,
            u.email,
            _bars(classes, rows.get(u.id, {}), waiting["user", u.id]),
        )
        for u in users[:PEOPLE]
    ]
    return {"people": made, "is_open": True, "is_cut": len(users) > PEOPLE}


def _by_subject(rows: Iterable[Quota], hours: Mapping[Whose, int]) -> dict[UUID, dict[str, Quota]]:
    found: dict[UUID, dict[str, Quota]] = defaultdict(dict)
    kept = with_hours(rows, hours)
    for row in (*kept, *without_limit(kept, hours)):
        found[row.subject_id][row.resource] = row
    return found


def _classes(rows: Mapping[UUID, Mapping[str, Quota]]) -> list[str]:
    seen = {
        q.resource
        for found in rows.values()
        for q in found.values()
        if q.used or q.limit is not None or q.guaranteed
    }
    order = {name: n for n, name in enumerate(PLAIN)}
    return sorted(
        seen or PLAIN, key=lambda name: (order.get(name.partition(".")[0], len(order)), name)
    )


def _bars(
    classes: Iterable[str], rows: Mapping[str, Quota], waiting: Mapping[str, int]
) -> dict[str, Bar]:
    return {name: _bar(name, rows.get(name), waiting.get(name, 0)) for name in classes}


def _bar(name: str, row: Quota | None, waiting: int) -> Bar:
    if row is None:
        return Bar(name)
    reserved = min(waiting, row.used)
    return Bar(name, row.used - reserved, reserved, row.promised, row.limit, row.guaranteed)


def _reserved() -> Mapping[Any, Mapping[str, int]]:
    """Return what admitted jobs that do not run yet reserve, by scope, subject and resource."""
    found: dict[Any, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    rows = (
        Attempt.objects.filter(
            has_reservation=True, state__gt=State.QUEUED, state__lt=State.RUNNING
        )
        .values_list("org_id", "job__team_id", "job__owner_id", "job__resources")
        .annotate(n=Count("id"))
    )
    for org, team, owner, resources, n in rows:
        for name, amount in resources.items():
            for whose in (("org", org), ("team", team), ("user", owner)):
                found[whose][name] += amount * n
    return found
