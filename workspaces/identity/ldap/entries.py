"""Interpret directory entries: people and nested groups. Pure, without an LDAP library."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from workspaces.identity.claims import email_in
from workspaces.identity.ldap.settings import DirectorySchema, normalized_dn
from workspaces.identity.provisioning import ProviderPerson

MEMBERS = ("member", "uniqueMember", "memberUid")
_DISABLED = 2  # ADS_UF_ACCOUNTDISABLE in userAccountControl
_BINARY = {"objectguid"}
Attributes = Mapping[str, Sequence[bytes]]


@dataclass(frozen=True)
class DirectoryEntry:
    """A directory entry, with attribute names in lower case."""

    dn: str
    attributes: Attributes

    def first(self, *names: str) -> str:
        """Return the first value of the first of these attributes that has one."""
        return next((text for text in self.every(*names) if text), "")

    def every(self, *names: str) -> list[str]:
        """Return all values of these attributes as texts."""
        return [
            _text(name, value) for name in names for value in self.attributes.get(name.lower(), ())
        ]


def entry_of(dn: str, attributes: Mapping[str, Sequence[bytes]]) -> DirectoryEntry:
    """Return an entry with its attribute names in lower case."""
    return DirectoryEntry(dn, {name.lower(): values for name, values in attributes.items()})


def attributes_of(schema: DirectorySchema) -> list[str]:
    """Return the attributes to request for a person."""
    return sorted(
        {*schema.logins, *schema.emails, *schema.names, schema.subject, "userAccountControl"}
    )


def is_disabled(entry: DirectoryEntry) -> bool:
    """Return whether Active Directory marks the account as disabled; it counts as removed."""
    message = entry.first("userAccountControl")
    return message.isdigit() and bool(int(message) & _DISABLED)


def person_of(
    entry: DirectoryEntry, schema: DirectorySchema, groups: Iterable[str] = ()
) -> ProviderPerson | None:
    """Return the person in an entry, or None without a value for the subject attribute."""
    subject = entry.first(schema.subject)
    if not subject:
        return None
    email, instead = email_in(entry.every(*schema.emails))
    return ProviderPerson(
        subject[:400],
        email,
        entry.first(*schema.names)[:150],
        entry.first(*schema.logins)[:254],
        frozenset(groups),
        instead,
    )


class Groups:
    """Group membership with nested groups; cycles are allowed."""

    def __init__(self, entries: Iterable[DirectoryEntry], *, is_nested: bool):
        self.names: dict[str, str] = {}  # key → DN as the directory writes it
        # DN key of a member, or "uid:…" → groups
        self._parents: dict[str, set[str]] = defaultdict(set)
        for entry in entries:
            key = normalized_dn(entry.dn)
            self.names[key] = entry.dn
            for name in MEMBERS:
                for value in entry.attributes.get(name.lower(), ()):
                    text = _text(name, value)
                    self._parents[
                        f"uid:{text.lower()}" if name == "memberUid" else normalized_dn(text)
                    ].add(key)
        self._is_nested, self._above = is_nested, dict[str, frozenset[str]]()

    def of(self, entry: DirectoryEntry, login: str = "") -> frozenset[str]:
        """Return the keys of all groups that contain an entry."""
        direct = self._parents.get(normalized_dn(entry.dn), set()) | (
            self._parents.get(f"uid:{login.lower()}", set()) if login else set()
        )
        if not self._is_nested:
            return frozenset(direct)
        return frozenset(direct).union(*(self._ancestors(key) for key in direct))

    def _ancestors(self, key: str) -> frozenset[str]:
        if key not in self._above:
            found, new = set[str](), [key]
            while new:
                new = [
                    parent
                    for known in new
                    for parent in self._parents.get(known, ())
                    if parent not in found
                ]
                found.update(new)
            self._above[key] = frozenset(found)
        return self._above[key]


def _text(name: str, value: bytes) -> str:
    if name.lower() in _BINARY:
        return str(UUID(bytes_le=bytes(value))) if len(value) == 16 else ""
    text = value.decode("utf-8", "replace").replace("\x00", "")
    return "".join(c for c in text if c.isprintable())
