"""Secrets: written by users, read by jobs alone. Values are only given to a launch.

A reference is `team/NAME` for the job's own team (`team` or its slug), or `org/NAME` for the
organization; `@3` selects a version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, Q

from portal.core import clock, vault
from portal.core.errors import InvalidInput, NotFound
from portal.core.events import EventRecord, record, record_all
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Secret, SecretVersion, Team
from workspaces.models.secrets import PURPOSE

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z")
MAX_BYTES = 64 << 10  # bytes: passed as an environment variable
MAX_VERSIONS = 20  # versions; beyond that the oldest is deleted
OWN, SHARED = "team", "org"  # first parts of references, besides a team's slug


@transaction.atomic
def set_secret(
    *, actor: Actor, org: Organization, team: Team | None, name: str, value: str
) -> SecretVersion:
    """Add a version, creating the secret if needed.

    References without a version resolve to it from now on. `team` None: for all teams. Raises
    InvalidInput, NotPermitted.
    """
    authorize(actor, Permission.SECRETS_WRITE, team)
    if not NAME.match(name):
        raise InvalidInput.at(
            "name",
            Message("must be 1 to 63 letters, digits and . _ -, beginning with a letter or digit"),
        )
    _check_value(value)
    secret = _get_or_create(org, team, name)
    # Also locks the row, so that concurrent writers get different numbers
    Secret.objects.filter(id=secret.id).update(newest=F("newest") + 1)
    secret.refresh_from_db(fields=["newest"])
    version = SecretVersion.objects.create(
        org=org,
        secret=secret,
        number=secret.newest,
        sealed=vault.encrypt(value.encode(), PURPOSE),
        made_by=actor.email,
    )
    SecretVersion.objects.filter(secret=secret, number__lte=secret.newest - MAX_VERSIONS).delete()
    _record(
        "secret.set",
        actor,
        secret,
        team,
        version=version.number,
        before={"newest": version.number - 1},
        after={"newest": version.number},
    )
    return version


@transaction.atomic
def delete_secret(*, actor: Actor, team: Team | None, name: str) -> None:
    """Delete a secret with all its versions.

    Pending jobs that reference it will not start. Raises NotFound, NotPermitted.
    """
    authorize(actor, Permission.SECRETS_WRITE, team)
    secret = find_secret(team, name)
    secret.delete()
    _record("secret.deleted", actor, secret, team, before={"newest": secret.newest})


@transaction.atomic
def delete_version(*, actor: Actor, team: Team | None, name: str, number: int) -> None:
    """Delete one version, for example after a leak.

    The newest cannot be deleted while references resolve to it. Raises NotFound, InvalidInput,
    NotPermitted.
    """
    authorize(actor, Permission.SECRETS_WRITE, team)
    secret = find_secret(team, name)
    if number == secret.newest:
        raise InvalidInput.at(
            "version", "is the newest version: set a new value first, or delete the secret"
        )
    if not SecretVersion.objects.filter(secret=secret, number=number).delete()[0]:
        raise NotFound(Message("{name} has no version {number}.", name=name, number=number))
    _record(
        "secret.version_deleted", actor, secret, team, version=number, before={"version": number}
    )


def find_secret(team: Team | None, name: str) -> Secret:
    """Return a secret of this team, or of the current organization. Raises NotFound."""
    row = Secret.objects.filter(team=team, name=name).first()
    if row is None:
        raise NotFound(
            Message(
                "There is no secret {x} {x2}.",
                x=repr(name[:63]),
                x2=Message("of team {name}", context="error", name=team.slug)
                if team
                else Message("of the organization"),
            )
        )
    return row  # type: ignore[no-any-return]


@dataclass(frozen=True)
class SecretReferences:
    """The references of a team's job, or of another `subject`, by what they are for.

    `subject`, `subject_id` and `facts` go into the event that records the use.
    """

    org_id: UUID
    team_id: UUID
    team: str
    references: Mapping[str, str]
    subject_id: UUID | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    subject: str = "job"

    def owner(self, where: str) -> UUID | None:
        """Return the owner of the secret, or None for a team other than the job's."""
        return (
            self.org_id if where == SHARED else self.team_id if where in (OWN, self.team) else None
        )


@dataclass(frozen=True)
class OpenedSecrets:
    """The values by variable, or why one of them is unavailable."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    lacks: str = ""


def check_references(team: Team, references: Mapping[str, str], field: str = "secrets") -> None:
    """Check that every reference exists and is available to the team's jobs.

    Raises InvalidInput listing all errors.
    """
    use = SecretReferences(team.org_id, team.id, team.slug, references)
    known = _versions([use])
    faults = [
        (f"{field}.{name}", found)
        for name, text in references.items()
        if isinstance(found := _resolve(use, text, known), str)
    ]
    if faults:
        raise InvalidInput(
            ": ".join(faults[0]),
            errors=[{"field": name, "message": fault} for name, fault in faults],
        )


def open_secrets(uses: Sequence[SecretReferences]) -> list[OpenedSecrets]:
    """Decrypt the values for launches, recording an event for each.

    Called only when attempts are handed to the backend.
    """
    if not any(use.references for use in uses):
        return [OpenedSecrets() for _ in uses]
    known = _versions(uses)
    looks = [
        {name: _resolve(use, text, known) for name, text in use.references.items()} for use in uses
    ]
    sealed = _sealed(row.id for look in looks for row in look.values() if isinstance(row, _Version))
    opened = [_opened(look, sealed) for look in looks]
    used = [
        (use, row)
        for use, look, got in zip(uses, looks, opened, strict=True)
        if not got.lacks
        for row in look.values()
        if isinstance(row, _Version)
    ]
    record_all(
        EventRecord(
            "secret.used",
            use.org_id,
            use.subject,
            use.subject_id,
            "muster",
            {"secret": row.shown, "version": row.number, **use.facts},
        )
        for use, row in used
    )
    Secret.objects.filter(id__in={row.secret_id for _, row in used}).update(
        last_used_at=clock.now()
    )
    return opened


@dataclass(frozen=True)
class _Version:
    """An existing version, without its value."""

    id: UUID
    secret_id: UUID
    number: int
    shown: str


# By owner (team or organization) and name, then by number
_Versions = Mapping[tuple[UUID, str], Mapping[int, _Version]]


def _versions(uses: Iterable[SecretReferences]) -> _Versions:
    """Read all versions the references could resolve to, in one query."""
    wanted = Q(pk__in=[])
    for use in uses:
        names = {_parse(text)[1] for text in use.references.values()}
        wanted |= Q(secret__team_id=use.team_id, secret__name__in=names) | Q(
            secret__org_id=use.org_id, secret__team=None, secret__name__in=names
        )
    rows = SecretVersion.objects.filter(wanted).values_list(
        "id",
        "secret_id",
        "number",
        "secret__org_id",
        "secret__team_id",
        "secret__team__slug",
        "secret__name",
    )
    found: dict[tuple[UUID, str], dict[int, _Version]] = {}
    for pk, secret_id, number, org_id, team_id, team, name in rows:
        found.setdefault((team_id or org_id, name), {})[number] = _Version(
            pk, secret_id, number, f"{team or SHARED}/{name}"
        )
    return found


def _resolve(use: SecretReferences, text: str, known: _Versions) -> _Version | str:
    """Return the version a reference resolves to, or what is wrong."""
    where, name, number = _parse(text)
    owner = use.owner(where)
    if owner is None:
        return (
            f"{where}/{name} belongs to another team; use {OWN}/NAME for the job's own team, or "
            f"{SHARED}/NAME for the organization"
        )
    versions = known.get((owner, name))
    if not versions:
        return (
            f"there is no secret {where}/{name}; set it on the Secrets page, or by: muster "
            f"secret set {where}/{name}"
        )
    if number is None:
        return versions[max(versions)]
    return (
        versions.get(number)
        or f"{where}/{name} has no version {number}; the newest is {max(versions)}"
    )


def _parse(text: str) -> tuple[str, str, int | None]:
    where, _, rest = text.partition("/")
    name, _, number = rest.partition("@")
    return where, name, int(number) if number else None


def _sealed(ids: Iterable[UUID]) -> dict[UUID, bytes]:
    return dict(SecretVersion.objects.filter(id__in=set(ids)).values_list("id", "sealed"))


def _opened(look: Mapping[str, _Version | str], sealed: Mapping[UUID, bytes]) -> OpenedSecrets:
    values = {}
    for name, found in look.items():
        if isinstance(found, str):
            return OpenedSecrets(lacks=f"{name}: {found}")
        try:
            values[name] = vault.decrypt(sealed[found.id], PURPOSE).decode()
        except (vault.Unreadable, KeyError) as error:
            return OpenedSecrets(
                lacks=f"{name}: "
                f"{error if isinstance(error, vault.Unreadable) else 'it was deleted just now'}"
            )
    return OpenedSecrets(values)


def _check_value(value: str) -> None:
    """Check that a value fits into an environment variable. The message never quotes it."""
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidInput.at("value", Message("is not valid text")) from None
    if not 0 < size <= MAX_BYTES:
        raise InvalidInput.at("value", Message("must be 1 to {n} bytes long", n=f"{MAX_BYTES:,}"))
    if "\0" in value:
        raise InvalidInput.at("value", "must not contain NUL characters")


def _get_or_create(org: Organization, team: Team | None, name: str) -> Secret:
    try:
        with transaction.atomic():
            return Secret.objects.filter(team=team, name=name).first() or Secret.objects.create(
                org=org, team=team, name=name
            )  # type: ignore[no-any-return]
    except IntegrityError:  # created concurrently
        return Secret.objects.get(team=team, name=name)  # type: ignore[no-any-return]


def _record(kind: str, actor: Actor, secret: Secret, team: Team | None, **data: object) -> None:
    shown = f"{team.slug if team else SHARED}/{secret.name}"
    record(
        EventRecord(
            kind,
            secret.org_id,
            "secret",
            secret.id,
            actor.email,
            {"name": shown, "secret": shown, **data},
        )
    )
