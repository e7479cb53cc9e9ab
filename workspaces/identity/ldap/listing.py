"""List all people and groups of a directory for a sync.

An incomplete answer raises DirectoryError, because it must not look as if people had left.
"""

from __future__ import annotations

from collections.abc import Callable

from portal.core.messages import Message
from workspaces.identity.ldap.client import PAGE, Directory
from workspaces.identity.ldap.entries import Groups, is_disabled, person_of
from workspaces.identity.ldap.errors import DirectoryError
from workspaces.identity.ldap.settings import Config
from workspaces.identity.provider_types import DirectoryListing
from workspaces.identity.provisioning import ProviderPerson

SECONDS = 300.0


def list_everyone(config: Config, progress: Callable[[int], None]) -> DirectoryListing:
    """List everyone; `progress` gets the number of people read, after each thousand.

    Raises DirectoryError.
    """
    schema, people, seen, nobody = config.schema, list[ProviderPerson](), set[str](), 0
    with Directory(config, SECONDS) as directory:
        groups = Groups(directory.groups(), is_nested=config.nested)
        for number, entry in enumerate(directory.people(), 1):
            if number % PAGE == 0:
                progress(number)
            person = person_of(entry, schema)
            if person is None:
                nobody += 1
            elif not is_disabled(entry) and person.subject not in seen:
                seen.add(person.subject)
                people.append(person_of(entry, schema, groups.of(entry, person.login)) or person)
    if nobody:
        raise DirectoryError(
            Message(
                "{nobody} people have no {subject} that the bind DN can read. It is required "
                "to identify them.",
                nobody=f"{nobody:,}",
                subject=schema.subject,
            )
        )
    return DirectoryListing(people, len(groups.names))
