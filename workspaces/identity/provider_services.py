"""Create, change, test and remove identity providers.

Owners manage those of their organization, operators those of the whole installation. Each change is
an event that contains no secret.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
from django.db import IntegrityError, transaction
from django.db.models import Q

from portal.core import clock, messages, vault
from portal.core.errors import (
    Conflict,
    InputErrors,
    InvalidInput,
    NotFound,
    NotPermitted,
    Unavailable,
)
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.core.options import Options, Secret, check, way_named
from portal.core.wakeups import wake_worker
from workspaces.access.actors import Actor, authorize
from workspaces.access.custom_roles import read_custom_roles
from workspaces.access.permissions import Permission
from workspaces.access.roles import roles_of
from workspaces.credentials.tokens import revoke_vouched
from workspaces.identity import request_limits
from workspaces.identity.provider_types import (
    FIND_SECONDS,
    ProviderTestResult,
    ProviderType,
    ProviderUnavailable,
    kind_of,
)
from workspaces.identity.reinstatement import reinstate_people
from workspaces.models import GroupRule, Organization, Provider, ProviderTest, Team
from workspaces.organizations.names import check_slug, clean_name
from workspaces.tenancy.scope import org_scope, platform_scope

PURPOSE = "provider"
TASK = "workspaces.sync_directories"
TEST_SECONDS = 60  # seconds after which an unfinished test counts as lost
MOST_RULES = 500
_DOMAIN = re.compile(r"(?=.{1,190}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")


def create_provider(
    *,
    actor: Actor,
    org: Organization | None,
    kind: str,
    slug: str,
    name: str,
    options: Mapping[str, Any],
    domains: Sequence[str] = (),
    rules: Sequence[Mapping[str, str]] = (),
    way: str = "",
) -> Provider:
    """Create an identity provider of an organization (`org` None: of the whole installation).

    Its `rules` are as for `set_rules`, and `way` is one of its type. Raises NotPermitted,
    InvalidInput, Conflict.
    """
    check_can_write(actor, org)
    what = _available_type(kind)
    errors, given = InputErrors(), Options({}, {})
    with errors:
        check_slug(slug)
    with errors:
        given = _checked(actor, what, options, None, way)
    errors.raise_all()
    try:
        with _write_scope(org), transaction.atomic():
            found = _domains(actor, org, domains, ())
            _check_is_free(org, slug)
            row = Provider.objects.create(
                org=org,
                kind=kind,
                slug=_unique_slug(org, slug),
                short_name=slug,
                name=clean_name(name or slug),
                config=dict(given.plain),
                secrets=_encrypted(given.secret),
                domains=found,
            )
            _record(
                "created",
                row,
                actor,
                kind=kind,
                options=sorted(given.plain),
                domains=found,
                after=_snapshot(row),
            )
            if rules:
                set_rules(actor=actor, provider=row, rules=rules)
    except IntegrityError:
        raise _name_taken(slug) from None
    return row


def update_provider(
    *,
    actor: Actor,
    provider: Provider,
    options: Mapping[str, Any] | None = None,
    name: str | None = None,
    domains: Sequence[str] | None = None,
    is_enabled: bool | None = None,
    way: str = "",
) -> Provider:
    """Change the given fields of a provider.

    An omitted option or an empty secret keeps its value; None removes it. Raises NotPermitted,
    InvalidInput.
    """
    check_can_write(actor, provider.org)
    with _write_scope(provider.org), transaction.atomic():
        if domains is not None:
            _lock_domains()
        row = (
            Provider.objects.select_for_update(of=("self",))
            .select_related("org")
            .get(id=provider.id)
        )
        what, former = kind_of(row.kind), _stored_options(row)
        given = _checked(actor, what, options or {}, former, way)
        before = _snapshot(row)
        row.config, row.secrets = (
            dict(given.plain),
            _encrypted(given.secret) if given.secret != former.secret else bytes(row.secrets),
        )
        row.name = row.name if name is None else clean_name(name)
        row.domains = (
            row.domains if domains is None else _domains(actor, row.org, domains, row.domains)
        )
        row.is_enabled = row.is_enabled if is_enabled is None else is_enabled
        row.save(update_fields=["config", "secrets", "name", "domains", "is_enabled"])
        after = _snapshot(row)
        moved = {
            n for n in {*former.plain, *given.plain} if former.plain.get(n) != given.plain.get(n)
        }
        moved |= {
            n
            for n in {*former.secret, *given.secret}
            if former.secret.get(n) != given.secret.get(n)
        }
        if before["is_enabled"] and not row.is_enabled:
            revoke_vouched(row.id, by=actor.email, why="its identity provider was disabled")
        if moved or before != after:
            _record("changed", row, actor, options=sorted(moved), before=before, after=after)
    return row


@transaction.atomic
def remove_provider(*, actor: Actor, provider: Provider, brings_back: bool = False) -> None:
    """Remove a provider permanently; nobody can sign in by it any longer.

    The roles that it granted stay, as if granted manually. People whom it suspended stay suspended
    unless `brings_back`. Raises NotPermitted.
    """
    check_can_write(actor, provider.org)
    with _write_scope(provider.org):
        # Transactions that create tokens vouched for by this provider wait here, then find it
        # removed.
        Provider.objects.select_for_update(of=("self",)).get(id=provider.id)
    if brings_back:
        reinstate_people(provider, actor)
    _record("removed", provider, actor, kind=provider.kind, before=_snapshot(provider))
    revoke_vouched(provider.id, by=actor.email, why="its identity provider was removed")
    with platform_scope("roles granted by a provider survive its removal"):
        Provider.objects.filter(id=provider.id).delete()


@transaction.atomic
def set_rules(
    *, actor: Actor, provider: Provider, rules: Sequence[Mapping[str, str]]
) -> list[GroupRule]:
    """Replace all group rules of a provider, in order.

    Each rule is {"group", "org"?, "team"?, "role"} with slugs. Raises NotPermitted, InvalidInput.
    """
    check_can_write(actor, provider.org)
    with _write_scope(provider.org):
        Provider.objects.select_for_update(of=("self",)).get(id=provider.id)
    if len(rules) > MOST_RULES:
        raise InvalidInput.at(
            "rules", Message("must be at most {most}", context="error of a field", most=MOST_RULES)
        )
    made = [_rule(provider, position, given) for position, given in enumerate(rules, 1)]
    before = group_rules(provider)
    with _write_scope(provider.org):
        GroupRule.objects.filter(provider=provider).delete()
        GroupRule.objects.bulk_create(made)
    after = group_rules(provider)
    if before != after:
        _record("rules_changed", provider, actor, before=before, after=after)
    return made


def group_rules(provider: Provider) -> list[dict[str, str]]:
    """Return the group rules in order, as the page and the API show them."""
    with platform_scope("group rules name teams of several organizations"):
        rows = (
            GroupRule.objects.filter(provider=provider)
            .select_related("org", "team")
            .order_by("position")
        )
        return [
            {
                "group": row.group,
                "org": row.org.slug,
                "team": row.team.slug if row.team else "",
                "role": row.role,
            }
            for row in rows
        ]


def check_form(
    *,
    actor: Actor,
    org: Organization | None,
    kind: str,
    options: Mapping[str, Any],
    way: str = "",
    slug: str | None = None,
) -> None:
    """Check the settings of a new provider, without asking it. Raises InvalidInput with all errors."""
    check_can_write(actor, org)
    _checked_form(actor, org, _available_type(kind), options, None, way, slug)


def _checked_form(
    actor: Actor,
    org: Organization | None,
    what: ProviderType,
    options: Mapping[str, Any],
    former: Options | None,
    way: str,
    slug: str | None,
) -> Options:
    errors, given = InputErrors(), Options({}, {})
    with errors:
        given = _checked(actor, what, options, former, way)
    with errors:
        if slug is not None:
            check_slug(slug)
            _check_is_free(org, slug)
    errors.raise_all()
    return given


def start_test(
    *,
    actor: Actor,
    org: Organization | None,
    kind: str,
    options: Mapping[str, Any],
    provider: Provider | None = None,
    person: str = "",
    way: str = "",
    slug: str | None = None,
) -> ProviderTest:
    """Queue a test of options that need not be stored; a background thread starts it at once.

    With a provider, omitted options keep their stored values. `person` is somebody to find as a
    sign-in would, and `slug` the name that a new provider is to have. Raises NotPermitted,
    InvalidInput; Conflict while another test of the provider is queued or running.
    """
    check_can_write(actor, provider.org if provider else org)
    what = _available_type(kind)
    former = _stored_options(provider) if provider else None
    given = _checked_form(actor, org, what, options, former, way, slug)
    person = person.strip()[:254] if what.finds_people else ""
    assert actor.org_id is not None
    with org_scope(actor.org_id), transaction.atomic():
        # Lock the organization, so that two concurrent requests cannot both find no running test.
        Organization.objects.select_for_update(no_key=True).get(id=actor.org_id)
        since = clock.now() - timedelta(seconds=TEST_SECONDS)
        if ProviderTest.objects.filter(
            org_id=actor.org_id, provider=provider, ended_at=None, started_at__gt=since
        ).exists():
            raise Conflict(
                Message("A test is already running. Wait until it finishes."), code="running"
            )
        sealed = vault.encrypt(
            orjson.dumps(
                {"plain": dict(given.plain), "secret": dict(given.secret), "person": person}
            ),
            PURPOSE,
        )
        made = ProviderTest.objects.create(
            org_id=actor.org_id, provider=provider, kind=kind, actor=actor.email, options=sealed
        )
        where = provider.org_id if provider else org.id if org else None
        record(
            EventRecord(
                "provider.test_asked",
                where,
                "provider",
                provider.id if provider else None,
                actor.email,
                {"kind": kind},
            )
        )
    wake_worker(TASK)
    return made


def run_next_test(may_begin: Callable[[UUID | None], bool]) -> bool:
    """Run the oldest queued test that `may_begin` admits; return False if there is none."""
    since = clock.now() - timedelta(seconds=TEST_SECONDS)
    with platform_scope("one task tests the directories of all organizations"):
        for test in (
            ProviderTest.objects.filter(ended_at=None, started_at__gt=since)
            .exclude(options=b"")
            .order_by("started_at")
        ):
            sealed = bytes(test.options)
            if may_begin(test.org_id) and ProviderTest.objects.filter(
                id=test.id, ended_at=None
            ).exclude(options=b"").update(options=b""):
                _run_test(test, sealed)
                return True
    return False


def find_test(actor: Actor, test_id: UUID) -> ProviderTest:
    """Return a test that was started in the actor's organization. Raises NotFound."""
    found: ProviderTest | None = ProviderTest.objects.filter(
        org_id=actor.org_id, id=test_id
    ).first()
    if found is None:
        raise NotFound(Message("This test doesn't exist or has been deleted."))
    return found


def delete_old_tests() -> None:
    """Delete tests older than an hour."""
    with platform_scope("tests of all organizations"):
        ProviderTest.objects.filter(started_at__lt=clock.now() - timedelta(hours=1)).delete()


def provider_test_data(test: ProviderTest) -> dict[str, Any]:
    """Return a test as the API shows it; a test whose process died counts as failed."""
    is_lost = test.ended_at is None and test.started_at < clock.now() - timedelta(
        seconds=TEST_SECONDS
    )
    return {
        "id": test.id,
        "started_at": test.started_at,
        "ended_at": clock.now() if is_lost else test.ended_at,
        "is_ok": test.is_ok,
        "message": Message("The test didn't finish within a minute. Try again.")
        if is_lost
        else test.message,
        "facts": {name: value for name, value in test.facts.items() if name != "checks"},
        "checks": [
            {
                **check,
                "label": messages.loads(check["label"]),
                "message": messages.loads(check["message"]),
            }
            for check in test.facts.get("checks", ())
        ],
    }


def _run_test(test: ProviderTest, sealed: bytes) -> None:
    what = kind_of(test.kind)
    opened = orjson.loads(vault.decrypt(sealed, PURPOSE))
    person, given = opened.pop("person", ""), Options(**opened)
    try:
        config = _build_config(what, given)
        found = what.test(config, person) if what.finds_people else what.test(config)
    except Exception as error:  # any error that a configuration causes is a test result
        found = ProviderTestResult(False, f"{type(error).__name__}: {error}")
    test.ended_at, test.is_ok = clock.now(), found.is_ok
    test.facts = {
        **dict(found.facts),
        "checks": [
            {
                **check.as_dict(),
                "label": messages.dumps(check.label),
                "message": messages.dumps(_masked(check.message, given)[:1000]),
            }
            for check in found.checks
        ],
    }
    test.message = _masked(found.message, given)[:1000]
    test.options = b""
    test.save()
    where = test.provider.org_id if test.provider else test.org_id
    record(
        EventRecord(
            "provider.tested",
            where,
            "provider",
            test.provider_id,
            test.actor,
            {"kind": test.kind, "is_ok": test.is_ok, "message": test.message[:200]},
        )
    )


def search_groups(*, actor: Actor, provider: Provider, typed: str) -> list[str]:
    """Return the groups whose name contains `typed`, in the form that rules use.

    Raises NotPermitted, Unavailable.
    """
    check_can_write(actor, provider.org)
    find = kind_of(provider.kind).find_groups
    if not find or not typed.strip():
        return []
    request_limits.check_is_available(provider.slug)
    try:
        with (
            request_limits.waiting(provider.org_id),
            request_limits.question(provider.slug, FIND_SECONDS),
        ):
            return find(config_of(provider), typed[:100])
    except ProviderUnavailable as error:
        raise Unavailable(error.message) from None


def config_of(provider: Provider) -> Any:
    """Return the provider's config, with its secrets decrypted. Raises vault.Unreadable."""
    secrets = (
        orjson.loads(vault.decrypt(bytes(provider.secrets), PURPOSE)) if provider.secrets else {}
    )
    return _build_config(kind_of(provider.kind), Options(provider.config, secrets))


def stored_secret_names(provider: Provider) -> list[str]:
    """Return the names of the secrets that are stored and readable."""
    return sorted(_stored_options(provider).secret)


def find_provider(actor: Actor, slug: str) -> Provider:
    """Return a provider of the actor's organization or, for operators, of the installation.

    Raises NotFound.
    """
    here = Q(org_id=actor.org_id, org__isnull=False) | (
        Q(org=None) if actor.is_operator else Q(pk=None)
    )
    row = (
        Provider.objects.select_related("org").filter(here, short_name=slug).first()
        if slug.isprintable()
        else None
    )
    if row is None:
        raise NotFound(Message("Provider {x} doesn't exist.", x=repr(slug[:40])))
    return row


def providers_for(actor: Actor) -> list[Provider]:
    """Return the providers of the actor's organization and, for operators, of the installation."""
    rows = Provider.objects.select_related("org").order_by("slug")
    return [
        row for row in rows if (row.org_id == actor.org_id if row.org_id else actor.is_operator)
    ]


def check_can_write(actor: Actor, org: Organization | None) -> None:
    """Check that the actor may manage providers of `org` (None: of the installation).

    Raises NotPermitted, NotFound.
    """
    if org is None and not actor.is_operator:
        raise NotPermitted(
            Message("Only a platform operator can set up sign-in for the whole installation.")
        )
    if org is not None:
        authorize(actor, Permission.PROVIDERS_WRITE)
        if org.id != actor.org_id:
            raise NotFound(Message("This organization doesn't exist."))


def _write_scope(org: Organization | None) -> AbstractContextManager[object]:
    """Return the scope for writing a provider's rows, once the actor is authorized."""
    return platform_scope("a provider of the whole installation") if org is None else nullcontext()


def _check_operators(
    actor: Actor, what: ProviderType, given: Options, former: Options | None
) -> None:
    """Refuse changes by others to options that only an operator may set.

    An operator approved them, such as a private address, together with the other options as they
    were.
    """
    before: Mapping[str, Any] = former.plain if former else {}
    allowed = [
        o
        for o in what.options
        if o.is_operators and (given.plain.get(o.name) or before.get(o.name))
    ]
    if allowed and not actor.is_operator and (given != former):
        raise NotPermitted(
            Message(
                "{label}: only a platform operator can set this option, or change a provider "
                "that uses it.",
                label=allowed[0].label,
            )
        )


def _available_type(kind: str) -> ProviderType:
    what = kind_of(kind)
    if missing := what.missing():
        raise InvalidInput.at("kind", missing)
    return what


def _checked(
    actor: Actor,
    what: ProviderType,
    options: Mapping[str, Any],
    former: Options | None,
    way: str,
) -> Options:
    """Check and merge options. Raises InvalidInput with all errors at once, NotPermitted."""
    blank = {option.name: "" for option in what.options if option.is_required}

    def faults_in(given: Options) -> list[tuple[str, str]]:
        try:
            _build_config(what, Options({**blank, **given.plain}, given.secret))
        except InvalidInput as error:
            return [
                (str(fault["field"]).removeprefix("options."), fault["message"])
                for fault in error.data["errors"]
            ]
        return []

    given = check(
        what.options,
        options,
        former,
        what="kind",
        way=way_named(what.ways, way, {}) if way else None,
        ways=what.ways,
        faults_in=faults_in,
    )
    _check_operators(actor, what, given, former)
    return given


def _build_config(what: ProviderType, given: Options) -> Any:
    """Build the config; its `__post_init__` raises InvalidInput."""
    known = {option.name for option in what.options}
    values = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in given.plain.items()
        if name in known
    }
    return what.config(
        **values, **{name: Secret(value) for name, value in given.secret.items() if name in known}
    )


def _check_is_free(org: Organization | None, short_name: str) -> None:
    """Check the short name in the organization and the installation, as operators see both.

    Raises InvalidInput, Conflict.
    """
    check_slug(short_name)
    if Provider.objects.filter(
        Q(org=org) | Q(org=None) if org else Q(), short_name=short_name
    ).exists():
        raise _name_taken(short_name)


def _name_taken(short_name: str) -> Conflict:
    return Conflict.at(
        "name",
        Message(
            "A provider named {short_name} already exists. Choose another name.",
            short_name=repr(short_name),
        ),
        code="name_taken",
    )


def _unique_slug(org: Organization | None, short_name: str) -> str:
    """Return a slug that is unique in the installation, for use in URLs."""
    with platform_scope("provider slugs are unique in the installation"):
        is_taken = Provider.objects.filter(slug=short_name).exists()
    if not is_taken:
        return short_name
    return f"{org.slug if org else 'all'}-{short_name}-{secrets.token_hex(4)}"


def _lock_domains() -> None:
    """Lock all providers until the transaction ends, so that domain ownership cannot change."""
    with platform_scope("an e-mail domain belongs to one organization"):
        list(Provider.objects.select_for_update(of=("self",)).order_by("id").values_list("id"))


def _domains(
    actor: Actor, org: Organization | None, given: Sequence[str], before: Sequence[str]
) -> list[str]:
    """Check the e-mail domains; only an operator may assign one, and to one organization only.

    Sign-ins, with passwords, of everyone with an address in a domain go to its provider.
    """
    found = sorted({domain.strip().lower().removeprefix("@") for domain in given if domain.strip()})
    wrong = [domain for domain in found if not _DOMAIN.fullmatch(domain)]
    if wrong:
        raise InvalidInput.at("domains", f"{wrong[0][:80]!r} isn't a valid e-mail domain")
    if set(found) - set(before) and not actor.is_operator:
        raise NotPermitted(
            Message(
                "Only a platform operator can assign e-mail domains to an organization, because "
                "everyone with an address in them signs in through it."
            )
        )
    if new := set(found) - set(before):
        _lock_domains()
        with platform_scope("an e-mail domain belongs to one organization"):
            rows = list(Provider.objects.select_related("org"))
        for row in rows:
            if row.org_id != (org.id if org else None) and (
                taken := sorted(new & set(row.domains))
            ):
                whose = row.org.name if row.org else "the whole installation"
                raise InvalidInput.at(
                    "domains",
                    f"{taken[0]} is already assigned to {whose}, and a domain can belong to "
                    f"only one organization. Remove it from {row.name} there first",
                )
    return found


def _rule(provider: Provider, position: int, given: Mapping[str, str]) -> GroupRule:
    at = f"rules.{position}"
    group, role = (
        kind_of(provider.kind).group_key(str(given.get("group", ""))),
        str(given.get("role", "")),
    )
    if not group or len(group) > 400 or not group.isprintable():
        raise InvalidInput.at(at, "must be a group name of 1 to 400 characters, or * for everyone")
    slug = str(given.get("org", "")) or (provider.org.slug if provider.org else "")
    org = Organization.objects.filter(slug=slug).first()
    if org is None or provider.org_id not in (None, org.id):
        raise InvalidInput.at(
            at, f"organization {slug[:40]!r} doesn't exist or isn't available to this provider"
        )
    with platform_scope("a group rule names a team of its organization"):
        team = (
            Team.objects.filter(org=org, slug=given["team"]).first() if given.get("team") else None
        )
    if given.get("team") and team is None:
        raise InvalidInput.at(at, f"team {given['team'][:40]!r} doesn't exist in {org.slug}")
    known = [facts.slug for facts in roles_of("team" if team else "org", read_custom_roles(org.id))]
    if role not in known:
        raise InvalidInput.at(at, f"the role must be one of {', '.join(known)}")
    return GroupRule(
        provider=provider, position=position, group=group, org=org, team=team, role=role
    )


def _encrypted(secrets: Mapping[str, str]) -> bytes:
    return vault.encrypt(orjson.dumps(dict(secrets)), PURPOSE) if secrets else b""


def _stored_options(provider: Provider) -> Options:
    """Return the stored options; secrets that can no longer be decrypted count as not set."""
    try:
        return Options(
            provider.config,
            orjson.loads(vault.decrypt(bytes(provider.secrets), PURPOSE))
            if provider.secrets
            else {},
        )
    except vault.Unreadable:
        return Options(provider.config, {})


def _masked(text: str, given: Options) -> str:
    for secret in given.secret.values():
        if len(secret) >= 4 and secret in text:
            text = text.replace(secret, "••••")
    return text


def _snapshot(row: Provider) -> dict[str, Any]:
    """Return the fields that events record; options are recorded by name only."""
    return {"name": row.name, "domains": row.domains, "is_enabled": row.is_enabled}


def _record(what: str, provider: Provider, actor: Actor, **data: Any) -> None:
    record(
        EventRecord(
            f"provider.{what}",
            provider.org_id,
            "provider",
            provider.id,
            actor.email,
            {"slug": provider.slug, **data},
        )
    )
