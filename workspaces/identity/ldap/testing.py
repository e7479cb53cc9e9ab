"""Test a directory's settings: report what it contains, or what is wrong and how to fix it."""

from __future__ import annotations

from itertools import islice

from portal.core import clock
from portal.core.messages import Message
from workspaces.identity.ldap.client import Directory
from workspaces.identity.ldap.entries import Groups, entry_of, is_disabled, person_of
from workspaces.identity.ldap.errors import DirectoryError
from workspaces.identity.ldap.settings import Config
from workspaces.identity.provider_types import ProviderTestResult

SECONDS = 10.0


def check_settings(config: Config) -> ProviderTestResult:
    """Follow all steps of a sync, and count people and groups."""
    start = clock.monotonic()
    try:
        with Directory(config, SECONDS) as directory:
            return _counted(directory, config, start)
    except DirectoryError as trouble:
        return ProviderTestResult(False, trouble.message)


def _counted(directory: Directory, config: Config, start: float) -> ProviderTestResult:
    schema = config.schema
    people = directory.people()
    some = list(islice(people, 50))
    living = [entry for entry in some if not is_disabled(entry)]
    known = [(entry, person) for entry in living if (person := person_of(entry, schema))]
    count = len(some) + sum(1 for _ in people)
    if not count:
        return ProviderTestResult(
            False,
            Message(
                "Connected by {encryption}, but found no people below {people_base} with "
                "{people}. Check the search base, the filter, and the permissions of the bind "
                "DN.",
                encryption=directory.encryption,
                people_base=config.people_base,
                people=schema.people,
            ),
        )
    if not known:
        return ProviderTestResult(
            False,
            Message(
                "Found {count} people, but their entries have no {subject} that the bind DN "
                "can read. Choose another attribute that never changes, under More.",
                count=f"{count:,}",
                subject=schema.subject,
            ),
        )
    groups = Groups(
        (entry_of(entry.dn, entry.attributes) for entry in directory.groups()),
        is_nested=config.nested,
    )
    entry, person = next((pair for pair in known if groups.of(pair[0], pair[1].login)), known[0])
    inside = len(groups.of(entry, person.login))
    lacking = (
        ""
        if person.email
        else Message(
            " {dn} has no {emails}: people without an e-mail address don't get an account.",
            dn=entry.dn,
            emails=", ".join(schema.emails),
        )
    )
    seconds = clock.monotonic() - start
    facts = (
        ("people", count),
        ("groups", len(groups.names)),
        ("seconds", round(seconds, 2)),
        ("encryption", directory.encryption),
    )
    return ProviderTestResult(
        True,
        f"Connected by {directory.encryption}, found {count:,} people and "
        f"{len(groups.names):,} groups in {seconds:.1f} s. "
        f"{person.name or person.login} is {entry.dn}, in {inside} "
        f"group{'' if inside == 1 else 's'}.{lacking}",
        facts,
    )
