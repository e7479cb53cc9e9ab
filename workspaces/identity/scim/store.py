"""Store users and groups received by SCIM, and apply what follows for accounts and roles.

Each write plans and applies role changes in the same transaction, like a sign-in or a sync.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from portal.core import clock
from portal.core.events import EventRecord, record_all
from workspaces.identity.claims import email_in
from workspaces.identity.provisioning import ProviderPerson
from workspaces.identity.provisioning_services import update_people
from workspaces.identity.scim.schemas import ScimError, cleaned
from workspaces.models import Identity, Provider, ScimRecord

USER, GROUP = ScimRecord.Kind.USER, ScimRecord.Kind.GROUP
MOST_RECORDS = 200_000
_NAMES = {USER: "userName", GROUP: "displayName"}


def records(provider: Provider, kind: str) -> Any:
    """Return the records that are not deleted."""
    return ScimRecord.objects.filter(provider=provider, kind=kind, gone_at=None)


def lock_provider(provider: Provider) -> None:
    """Lock the provider until the transaction ends, so that its writes run one after the other.

    Call it before reading, because writes depend on each other's rows.
    """
    list(
        Provider.objects.select_for_update(no_key=True, of=("self",))
        .filter(id=provider.id)
        .values_list("id")
    )


def record_of(provider: Provider, kind: str, record_id: UUID) -> ScimRecord:
    """Return a record that is not deleted. Raises ScimError."""
    row = records(provider, kind).filter(id=record_id).first()
    if row is None:
        raise ScimError(404, f"{kind} {record_id} doesn't exist.")
    return row  # type: ignore[no-any-return]


@transaction.atomic
def create(provider: Provider, kind: str, given: Any) -> ScimRecord:
    """Create a record. Raises ScimError: 409 if the name is taken."""
    data = cleaned(kind, given)
    lock_provider(provider)
    if ScimRecord.objects.filter(provider=provider).count() >= MOST_RECORDS:
        raise ScimError(413, f"The limit of {MOST_RECORDS} users and groups is reached.")
    row = ScimRecord(provider=provider, kind=kind, **_facts(kind, data))
    _save(row, is_new=True)
    _apply_change(provider, row, before={})
    return row


@transaction.atomic
def change(row: ScimRecord, data: dict[str, Any]) -> ScimRecord:
    """Replace the resource of a record with `data`; unchanged data writes nothing.

    Call `lock_provider` before reading the row.
    """
    if data == row.data:
        return row
    before, former = row.data, row.subject
    for name, value in _facts(row.kind, data).items():
        setattr(row, name, value)
    row.version, row.changed_at = row.version + 1, clock.now()
    _save(row, is_new=False)
    if row.kind == USER and former != row.subject:
        _rename(row, former)
    _apply_change(row.provider, row, before)
    return row


@transaction.atomic
def remove(row: ScimRecord) -> None:
    """Hide a record, and suspend its people where this provider granted access.

    Their history stays. Call `lock_provider` before reading the row.
    """
    row.gone_at = clock.now()
    row.save(update_fields=["gone_at"])
    if row.kind == USER:
        update_people(row.provider, [], [row.subject], actor=_actor(row.provider))
    else:
        _update_users(row.provider, _members(row.data))


def serialized(rows: Sequence[ScimRecord], base: str) -> list[dict[str, Any]]:
    """Return the records in the protocol's format, with members' names and users' groups."""
    groups = _groups_of(rows)
    names = _names_in(rows)
    return [_serialized(row, base, groups, names) for row in rows]


def _serialized(
    row: ScimRecord, base: str, groups: Mapping[str, list[ScimRecord]], names: Mapping[str, str]
) -> dict[str, Any]:
    place = f"{base}/{row.kind}s/{row.id}"
    body = {
        "schemas": [f"urn:ietf:params:scim:schemas:core:2.0:{row.kind}"],
        "id": str(row.id),
        **row.data,
    }
    if row.kind == GROUP and row.data.get("members"):
        body["members"] = [
            m | _member(m.get("value", ""), base, names) for m in row.data["members"]
        ]
    if found := groups.get(str(row.id)):
        body["groups"] = [
            {"value": str(g.id), "$ref": f"{base}/Groups/{g.id}", "display": g.data["displayName"]}
            for g in found
        ]
    body["meta"] = {
        "resourceType": row.kind,
        "created": row.created_at.isoformat(),
        "lastModified": row.changed_at.isoformat(),
        "location": place,
        "version": f'W/"{row.version}"',
    }
    return body


def _member(value: str, base: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return the reference and name of a member; empty for a user not received yet."""
    return {"$ref": f"{base}/Users/{value}", "display": names[value]} if value in names else {}


def _facts(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    name, external = (
        str(data[_NAMES[ScimRecord.Kind(kind)]]).strip(),
        str(data.get("externalId", "")),
    )
    if len(name) > 254 or len(external) > 254:
        raise ScimError(400, "A name or externalId must be at most 254 characters.", "invalidValue")
    facts: dict[str, Any] = {"name": name.lower(), "external_id": external, "data": data}
    return facts | ({"subject": external or name} if kind == USER else {})


def _save(row: ScimRecord, *, is_new: bool) -> None:
    try:
        with transaction.atomic():
            row.save(force_insert=is_new)
    except IntegrityError:
        raise ScimError(
            409, f"A {row.kind} named {row.name!r} already exists.", "uniqueness"
        ) from None


def _apply_change(provider: Provider, row: ScimRecord, before: Mapping[str, Any]) -> None:
    """Update the people whom a change affects."""
    if row.kind == USER:
        _update_users(provider, {str(row.id)})
    else:
        renamed = before.get("displayName") != row.data["displayName"]
        was, now = _members(before), _members(row.data)
        _update_users(provider, was | now if renamed else was ^ now)


def _update_users(provider: Provider, ids: Iterable[str]) -> None:
    rows = list(records(provider, USER).filter(id__in=[i for i in ids if is_uuid(i)]))
    groups = _groups_of(rows)
    here = [_person(row, groups) for row in rows if row.data.get("active", True)]
    gone = [row.subject for row in rows if not row.data.get("active", True)]
    made = update_people(provider, here, gone, actor=_actor(provider))
    record_all(
        EventRecord(
            "person.left_out",
            provider.org_id,
            "provider",
            provider.id,
            _actor(provider),
            {"provider": provider.slug, "name": clash.person.login, "why": clash.why[:300]},
        )
        for clash in made.clashes
    )


def _person(row: ScimRecord, groups: Mapping[str, list[ScimRecord]]) -> ProviderPerson:
    data, name = row.data, row.data.get("name") or {}
    emails = sorted(data.get("emails") or [], key=lambda e: not e.get("primary"))
    email, instead = email_in([*(each.get("value") for each in emails), data["userName"]])
    shown_as = (
        data.get("displayName")
        or name.get("formatted")
        or f"{name.get('givenName', '')} {name.get('familyName', '')}".strip()
    )
    return ProviderPerson(
        row.subject,
        email,
        " ".join(shown_as.split())[:100],
        data["userName"][:254],
        frozenset(g.data["displayName"] for g in groups.get(str(row.id), ())),
        instead,
    )


def _groups_of(rows: Sequence[ScimRecord]) -> dict[str, list[ScimRecord]]:
    """Return the groups of these users, by user id."""
    users = {str(row.id) for row in rows if row.kind == USER}
    found: dict[str, list[ScimRecord]] = {}
    for group in records(rows[0].provider, GROUP).order_by("name") if users else ():
        for member in _members(group.data) & users:
            found.setdefault(member, []).append(group)
    return found


def _names_in(rows: Sequence[ScimRecord]) -> dict[str, str]:
    ids = sorted({m for row in rows if row.kind == GROUP for m in _members(row.data) if is_uuid(m)})
    named: dict[str, str] = {}
    for start in range(0, len(ids), 900):
        found = (
            records(rows[0].provider, USER)
            .filter(id__in=ids[start : start + 900])
            .values_list("id", "data__userName")
        )
        named |= {str(record_id): name or "" for record_id, name in found}
    return named


def _members(data: Mapping[str, Any]) -> set[str]:
    return {str(m["value"]) for m in data.get("members") or () if m.get("value")}


def _rename(row: ScimRecord, former: str) -> None:
    """Move the identity to the user's new subject."""
    mine = Identity.objects.filter(provider=row.provider)
    if mine.filter(subject=row.subject).exists():
        raise ScimError(409, "Another user already has this externalId or userName.", "uniqueness")
    mine.filter(subject=former).update(subject=row.subject)


def is_uuid(text: str) -> bool:
    """Return whether a text is a UUID, as clients send any id."""
    try:
        return bool(UUID(text))
    except ValueError:
        return False


def _actor(provider: Provider) -> str:
    return f"scim {provider.slug}"
