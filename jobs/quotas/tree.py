"""Usage tree: organization → teams → people, with usage, reservations and what is left.

Five queries whatever the size; people are loaded for the one expanded team.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import UUID

from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from jobs.models import Attempt
from jobs.models.attempt import held_by
from portal.core.errors import NotFound
from portal.core.formatting import bytes_text, gpu_text, number_text, typed_text
from portal.core.messages import Message
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Membership, Organization, Quota, Team, TeamMembership
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
        """Return (segment, start, width) for drawing; nothing without a limit."""
        parts: list[tuple[str, float, float]] = []
        if self.limit is None:
            return parts
        at = 0.0
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
        labels = [
            pgettext("quota", "%(n)s in use"),
            _("%(n)s reserved for jobs about to start"),
            _("%(n)s kept free for guarantees"),
            pgettext("quota", "%(n)s available"),
            pgettext("quota", "%(n)s guaranteed"),
        ]
        amounts = (self.used, self.reserved, self.kept, self.left, self.guaranteed)
        return "; ".join(
            text % {"n": short(self.resource, n)}
            for text, n in zip(labels, amounts, strict=True)
            if n
        )

    @property
    def held_text(self) -> str:
        """Return what is in use and reserved, without its unit."""
        return short(self.resource, self.held)

    @property
    def limit_text(self) -> str:
        """Return the limit without its unit, "" if there is none."""
        return "" if self.limit is None else short(self.resource, self.limit)

    @property
    def typed_limit(self) -> str:
        """Return the limit as one types it: "64Gi", or "none"."""
        return "none" if self.limit is None else typed_text(self.resource, self.limit)

    @property
    def typed_guarantee(self) -> str:
        """Return the guarantee as one types it, "" if there is none."""
        return typed_text(self.resource, self.guaranteed) if self.guaranteed else ""


def _hours_tip(bar: Bar) -> str:
    """Describe the bar of a monthly limit of GPU-hours."""
    left = (
        []
        if bar.left is None
        else [pgettext("text, jobs", "%(n)s available") % {"n": short(bar.resource, bar.left)}]
    )
    return "; ".join(
        [
            _("%(n)s used this month, including running jobs")
            % {"n": short(bar.resource, bar.used)},
            *left,
            pgettext("part of a sentence", "resets on %(day)s")
            % {"day": f"{next_reset():%Y-%m-%d}"},
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

    @property
    def path(self) -> str:
        """Return the end of its page's URL: "team/vision"."""
        scope, _colon, subject = self.who.partition(":")
        return f"{scope}/{subject}".rstrip("/")


@dataclass(frozen=True)
class Tree:
    """The usage tree. `classes`: limited resource classes, else the default ones.

    `you`: the actor's own branch, None without limits. `unlimited`: other classes in use.
    """

    classes: list[str]
    top: Branch
    you: Branch | None
    teams: list[Branch]
    unlimited: list[str]
    is_empty: bool


def tree(
    actor: Actor, org: Organization, team: str = "", search: str = "", *, is_whole: bool = False
) -> Tree:
    """Return the tree with the people of one team; `is_whole`: with the resources without limits.

    Of other people's meters it has only those that the actor may change.
    """
    hours, waiting = used_now(), _reserved()
    rows = _by_subject(
        Quota.objects.filter(Q(scope__in=(ORG, TEAM)) | Q(scope=USER, subject_id=actor.user_id)),
        {whose: n for whose, n in hours.items() if whose[0] != USER or whose[1] == actor.user_id},
    )
    limited, used = _classes(rows, _is_limited), _classes(rows, _is_shown)
    if actor.may(Permission.QUOTAS_WRITE):
        people = Quota.objects.filter(Q(scope=USER), Q(limit__isnull=False) | Q(guaranteed__gt=0))
        limited = _sorted({*limited, *people.values_list("resource", flat=True).distinct()})
    classes = _sorted({*used, *limited, *PLAIN}) if is_whole else limited or list(PLAIN)
    own = rows.get(actor.user_id, {}) if actor.user_id else {}
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
    you = Branch(
        f"user:{actor.email}",
        pgettext("text, jobs", "You"),
        actor.email,
        _bars(classes, own, waiting["user", actor.user_id]),
    )
    return Tree(
        classes,
        top,
        you if any(map(_is_limited, own.values())) else None,
        teams,
        [name for name in used if name not in classes],
        not (limited or used),
    )


def branch(actor: Actor, org: Organization, scope: str, subject: str) -> tuple[Branch, UUID]:
    """Return the meters of one subject, of all resources, and its id.

    Raises NotFound, also for people whose meters the actor may not see.
    """
    name, note, subject_id = _subject(actor, org, scope, subject)
    hours = used_now()
    rows = _by_subject(
        Quota.objects.filter(scope=scope, subject_id=subject_id),
        {whose: n for whose, n in hours.items() if whose == (scope, subject_id)},
    )
    classes = _sorted({*_classes(rows, _is_shown), *PLAIN})
    bars = _bars(classes, rows.get(subject_id, {}), _reserved()[scope, subject_id])
    return Branch(f"{scope}:{note}", name, note, bars), subject_id


def _subject(actor: Actor, org: Organization, scope: str, subject: str) -> tuple[str, str, UUID]:
    """Return name, key and id of a subject. Raises NotFound."""
    if scope == ORG:
        return org.name, "", org.id
    if scope == TEAM and (team := Team.objects.filter(slug=subject).first()):
        return team.name, team.slug, team.id
    is_own = subject == actor.email
    if scope == USER and (is_own or actor.may(Permission.QUOTAS_WRITE)):
        seats = Membership.objects.select_related("user")
        if seat := seats.filter(user__email=subject.lower()).first():
            return seat.user.display_name, seat.user.email, seat.user_id
    raise NotFound(Message("There is no quota of {x} here.", x=repr(subject[:80])))


def short(resource: str, amount: int) -> str:
    """Return the amount without its unit: "2.5", "1,200", "16 GiB"."""
    if resource in ("memory", STORAGE):
        return bytes_text(amount) if amount else "0"
    whole, point, rest = number_text(resource, amount).partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.isdecimal() else whole + point + rest


def title(resource: str) -> str:
    """Return the column header: "GPUs", "H100 GPUs"."""
    kind, _, model = resource.partition(".")
    if model:
        return Message("{model} GPUs", context="text, jobs", model=gpu_text(model))
    return {
        "cpu": "CPU cores",
        "memory": "Memory",
        "jobs": "Running jobs",
        GPU_HOURS: "GPU-hours a month",
        STORAGE: "Storage",
    }.get(kind, unit_of(resource))


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


def _is_limited(row: Quota) -> bool:
    return row.limit is not None or bool(row.guaranteed)


def _is_shown(row: Quota) -> bool:
    return bool(row.used) or _is_limited(row)


def _classes(
    rows: Mapping[UUID, Mapping[str, Quota]], matches: Callable[[Quota], bool]
) -> list[str]:
    return _sorted(q.resource for found in rows.values() for q in found.values() if matches(q))


def _sorted(names: Iterable[str]) -> list[str]:
    order = {name: n for n, name in enumerate(PLAIN)}
    return sorted(
        set(names), key=lambda name: (order.get(name.partition(".")[0], len(order)), name)
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
        .values_list("org_id", "job__team_id", "job__owner_id", "job__resources", "gpu_types")
        .annotate(n=Count("id"))
    )
    for org, team, owner, resources, types, n in rows:
        for name, amount in held_by(resources, types).items():
            for whose in (("org", org), ("team", team), ("user", owner)):
                found[whose][name] += amount * n
    return found
