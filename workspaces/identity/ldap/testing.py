"""Test a directory's settings: report what it contains, or what is wrong and how to fix it."""

from __future__ import annotations

from itertools import islice

from portal.core import clock
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
            f"Connected by {directory.encryption}, but found no people below "
            f"{config.people_base} with {schema.people}. Check the search base, the filter, "
            "and the permissions of the bind DN.",
        )
    if not known:
        return ProviderTestResult(
            False,
            f"Found {count:,} people, but their entries have no {schema.subject} that the "
            "bind DN can read. Choose another attribute that never changes, under More.",
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
        else (
            f" {entry.dn} has no {' or '.join(schema.emails)}: people without an e-mail address "
            "don't get an account."
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
