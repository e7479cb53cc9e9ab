"""Test a directory's settings: report what it contains, or what is wrong and how to fix it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from portal.core import clock
from portal.core.messages import Message
from portal.core.options import CheckState, ConnectionCheck, failed, failures, skipped
from workspaces.identity.ldap.client import Directory
from workspaces.identity.ldap.connection import open_connection
from workspaces.identity.ldap.entries import (
    DirectoryEntry,
    Groups,
    entry_of,
    is_disabled,
    person_of,
)
from workspaces.identity.ldap.errors import FILTER, DirectoryError
from workspaces.identity.ldap.settings import Config
from workspaces.identity.provider_types import ProviderTestResult
from workspaces.identity.provisioning import ProviderPerson

SECONDS = 10.0
GROUPS_SHOWN = 500  # names that a form suggests
_CONNECTION, _BIND = (
    Message("Connection", context="text, workspaces"),
    Message("Bind DN", context="text, workspaces"),
)
_PEOPLE, _GROUPS, _PERSON = (
    Message("People", context="text, workspaces"),
    Message("Groups", context="text, workspaces"),
    Message("Person", context="text, workspaces"),
)


def check_settings(config: Config, person: str = "") -> ProviderTestResult:
    """Follow all steps of a sync, and count people and groups.

    With the name of a `person`, also find them as a sign-in does. Each step is a check; people and
    groups are searched also if the other search fails.
    """
    start = clock.monotonic()
    rest = [_PEOPLE, _GROUPS, *([_PERSON] if person else [])]
    try:
        with Directory(config, SECONDS) as directory:
            checks = [
                ConnectionCheck(
                    _CONNECTION,
                    message=Message("Connected by {how}.", how=directory.encryption),
                ),
                *_other_servers(config),
                _bound(config),
            ]
            return _searched(directory, config, person, checks, start)
    except DirectoryError as trouble:
        if trouble.field.startswith("bind_"):
            checks = [ConnectionCheck(_CONNECTION), failed(_BIND, trouble.message, trouble.field)]
        else:
            checks = [failed(_CONNECTION, trouble.message, trouble.field), *skipped(_BIND)]
        return ProviderTestResult(False, trouble.message, checks=(*checks, *skipped(*rest)))


def _bound(config: Config) -> ConnectionCheck:
    if config.bind_dn:
        return ConnectionCheck(_BIND, message=config.bind_dn)
    return ConnectionCheck(_BIND, message=Message("Anonymous access."))


def _other_servers(config: Config) -> list[ConnectionCheck]:
    """Try each of several addresses: the first that answers would hide the others."""
    found = []
    for url in config.urls if len(config.urls) > 1 else ():
        try:
            line = open_connection(replace(config, url=url), url, SECONDS / len(config.urls))
            line.end.close()
        except DirectoryError as trouble:
            found.append(
                ConnectionCheck(_CONNECTION, CheckState.WARNING, trouble.message, trouble.field)
            )
    return found


def _searched(
    directory: Directory,
    config: Config,
    person: str,
    checks: list[ConnectionCheck],
    start: float,
) -> ProviderTestResult:
    count, known, people = _people(directory, config)
    groups, listed = _groups(directory, config)
    checks += [people, listed]
    if person:
        checks.append(_person(directory, config, person, groups))
    seconds = clock.monotonic() - start
    facts = (
        ("people", count),
        ("groups", len(groups.names)),
        ("seconds", round(seconds, 2)),
        ("encryption", directory.encryption),
        ("group_names", sorted(groups.names.values())[:GROUPS_SHOWN]),
    )
    wrong = failures(checks)
    if wrong:
        text = Message.joined(" ", [check.message for check in wrong])
        return ProviderTestResult(False, text, facts, tuple(checks))
    return ProviderTestResult(
        True,
        Message.joined(
            " ",
            (
                Message(
                    "Connected by {encryption}, found {people} people and {groups} groups in "
                    "{seconds} s.",
                    encryption=directory.encryption,
                    people=f"{count:,}",
                    groups=f"{len(groups.names):,}",
                    seconds=f"{seconds:.1f}",
                ),
                _example(known, groups, config),
            ),
        ),
        facts,
        tuple(checks),
    )


Known = Sequence[tuple[DirectoryEntry, ProviderPerson]]


def _people(directory: Directory, config: Config) -> tuple[int, Known, ConnectionCheck]:
    """Return the number of people, some of them, and the check."""
    schema = config.schema
    try:
        people = directory.people()
        some = list(islice(people, 50))
        count = len(some) + sum(1 for _ in people)
        is_empty = not count and not directory.has_entries(config.people_base)
    except DirectoryError as trouble:
        return 0, [], failed(_PEOPLE, trouble.message, _field(trouble, "people"))
    if is_empty:
        text = Message(
            "There is nothing below {people_base} that the bind DN can read. Check the search "
            "base.",
            people_base=config.people_base,
        )
        return 0, [], failed(_PEOPLE, text, "people_base")
    if not count:
        text = Message(
            "Nobody below {people_base} matches {people}. Check the search base and the filter.",
            people_base=config.people_base,
            people=schema.people,
        )
        field = "people_filter" if config.people_filter else "people_base"
        return 0, [], failed(_PEOPLE, text, field)
    known = [
        (entry, person)
        for entry in some
        if not is_disabled(entry) and (person := person_of(entry, schema))
    ]
    if not known:
        text = Message(
            "Found {count} people, but their entries have no {subject} that the bind DN can read. "
            "Choose the right type of directory, or another attribute that never changes.",
            count=f"{count:,}",
            subject=schema.subject,
        )
        return count, [], failed(_PEOPLE, text, "subject_attribute")
    if not any(person.login for _, person in known):
        text = Message(
            "Found {count} people, but their entries have no {logins}, so nobody can sign in. "
            "Enter the attribute that has their names.",
            count=f"{count:,}",
            logins=", ".join(schema.logins),
        )
        return count, known, failed(_PEOPLE, text, "login_attributes")
    found = Message("Found {count}.", context="text, workspaces", count=f"{count:,}")
    if not any(person.email for _, person in known):
        text = Message(
            "Found {count}, but none has {emails}: people without an email address don't get an "
            "account. Enter the attribute that has it.",
            count=f"{count:,}",
            emails=", ".join(schema.emails),
        )
        return count, known, ConnectionCheck(_PEOPLE, CheckState.WARNING, text, "email_attribute")
    return count, known, ConnectionCheck(_PEOPLE, message=found)


def _groups(directory: Directory, config: Config) -> tuple[Groups, ConnectionCheck]:
    try:
        groups = Groups(
            (entry_of(entry.dn, entry.attributes) for entry in directory.groups()),
            is_nested=config.nested,
        )
    except DirectoryError as trouble:
        return (
            Groups((), is_nested=False),
            failed(_GROUPS, trouble.message, _field(trouble, "group")),
        )
    if groups.names:
        count = f"{len(groups.names):,}"
        return groups, ConnectionCheck(
            _GROUPS, message=Message("Found {count}.", context="text, workspaces", count=count)
        )
    if not config.group_base:
        text = Message("No search base for groups: rules can only apply to everyone.")
        return groups, ConnectionCheck(_GROUPS, message=text)
    text = Message(
        "No group below {group_base} matches {groups}, so rules can only apply to everyone.",
        group_base=config.group_base,
        groups=config.schema.groups,
    )
    field = "group_filter" if config.group_filter else "group_base"
    return groups, ConnectionCheck(_GROUPS, CheckState.WARNING, text, field)


def _person(directory: Directory, config: Config, typed: str, groups: Groups) -> ConnectionCheck:
    """Find a person as a sign-in does."""
    try:
        entry = directory.find(typed)
    except DirectoryError as trouble:
        return failed(_PERSON, trouble.message, _field(trouble, "people"))
    if entry is None:
        text = Message(
            "Nobody has {typed} as {logins}. Check the name, or the login attributes.",
            typed=repr(typed[:80]),
            logins=", ".join(config.schema.logins),
        )
        return failed(_PERSON, text, "person")
    if is_disabled(entry):
        text = Message("{dn} is disabled in the directory. Try another.", dn=entry.dn)
        return failed(_PERSON, text, "person")
    found = person_of(entry, config.schema)
    if found is None:
        text = Message(
            "{dn} has no {subject} that the bind DN can read.",
            dn=entry.dn,
            subject=config.schema.subject,
        )
        return failed(_PERSON, text, "subject_attribute")
    inside = sorted(groups.names.get(key, key) for key in groups.of(entry, found.login))
    return ConnectionCheck(
        _PERSON,
        message=Message.joined(
            " ",
            (
                Message(
                    "{name} ({email}) is {dn}.",
                    context="text, workspaces",
                    name=found.name or found.login,
                    email=found.email or Message("no email address"),
                    dn=entry.dn,
                ),
                Message("Groups: {names}.", context="text, workspaces", names="; ".join(inside))
                if inside
                else Message("In no group."),
            ),
        ),
    )


def _field(trouble: DirectoryError, what: str) -> str:
    return f"{what}_filter" if trouble.field == FILTER else trouble.field or f"{what}_base"


def _example(known: Known, groups: Groups, config: Config) -> str:
    """Describe one person, best one who is in a group."""
    entry, person = next((pair for pair in known if groups.of(pair[0], pair[1].login)), known[0])
    inside = len(groups.of(entry, person.login))
    return Message.joined(
        " ",
        (
            Message.plural(
                inside,
                "{name} is {dn}, in {inside} group.",
                "{name} is {dn}, in {inside} groups.",
                name=person.name or person.login,
                dn=entry.dn,
                inside=inside,
            ),
            ""
            if person.email
            else Message(
                "{dn} has no {emails}: people without an e-mail address don't get an account.",
                dn=entry.dn,
                emails=", ".join(config.schema.emails),
            ),
        ),
    )
