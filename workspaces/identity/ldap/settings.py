"""Settings of a directory and the meaning of its attributes; needs no LDAP library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from portal.core.messages import Message
from portal.core.options import Secret, Way, option, raise_faults
from workspaces.identity.certificates import certificate_fault

_NONE = Secret("")
_DN = re.compile(r"\s*[A-Za-z0-9.-]+\s*=\s*[^=,\s]")
_ATTRIBUTE = re.compile(r"[A-Za-z][A-Za-z0-9;-]{0,99}")


@dataclass(frozen=True)
class DirectorySchema:
    """The filters and attributes of one kind of directory."""

    people: str
    groups: str
    logins: tuple[str, ...]
    emails: tuple[str, ...]
    names: tuple[str, ...]
    subject: str


PRESETS = {
    "OpenLDAP": DirectorySchema(
        "(objectClass=person)",
        "(|(objectClass=groupOfNames)(objectClass=groupOfUniqueNames)(objectClass=posixGroup))",
        ("uid", "mail"),
        ("mail",),
        ("displayName", "cn"),
        "entryUUID",
    ),
    "Active Directory": DirectorySchema(
        "(&(objectCategory=person)(objectClass=user))",
        "(objectClass=group)",
        ("sAMAccountName", "userPrincipalName", "mail"),
        ("mail", "userPrincipalName"),
        ("displayName", "cn"),
        "objectGUID",
    ),
}


@dataclass(frozen=True)
class Config:
    """The settings of one directory."""

    WAYS: ClassVar[tuple[Way, ...]] = (
        Way(
            "openldap",
            "OpenLDAP",
            Message("Also 389 Directory Server, FreeIPA and others that follow the standard."),
            sets={"preset": "OpenLDAP"},
        ),
        Way(
            "active-directory",
            "Active Directory",
            Message("Microsoft's directory, also Samba."),
            sets={"preset": "Active Directory"},
        ),
    )
    url: str = option(
        Message("Address", context="setting, URL"),
        sends=("bind_password",),
        note=Message(
            "ldaps://directory.example.com, or ldap://… for StartTLS. Separate several addresses "
            "with spaces; they are tried in order."
        ),
    )
    people_base: str = option(
        Message("User search base"), note="ou=people,dc=example,dc=com", step="people"
    )
    preset: str = option(
        Message("Directory", context="setting"),
        default="OpenLDAP",
        choices=tuple(PRESETS),
        note=Message("Presets the filters and attributes below. You can override them."),
    )
    bind_dn: str = option(
        Message("Bind DN", context="setting"),
        default="",
        note=Message(
            "The account used for searches, e.g. cn=muster,ou=services,dc=example,dc=com. Leave "
            "empty for anonymous access."
        ),
    )
    bind_password: Secret = option(Message("Bind password", context="setting"), default=_NONE)
    group_base: str = option(
        Message("Group search base"),
        default="",
        note=Message(
            "e.g. ou=groups,dc=example,dc=com. If empty, rules can only apply to everyone."
        ),
        step="people",
    )
    ca: str = option(
        Message("CA certificate", context="setting"),
        default="",
        is_long=True,
        note=Message("PEM text; needed if the system doesn't trust the certificate."),
    )
    people_filter: str = option(
        Message("User filter", context="setting"),
        default="",
        is_rare=True,
        note=Message("An LDAP filter, e.g. (objectClass=person)."),
        step="people",
    )
    group_filter: str = option(
        Message("Group filter", context="setting"), default="", is_rare=True, step="people"
    )
    login_attributes: tuple[str, ...] = option(
        Message("Login attributes", context="setting"),
        default=(),
        is_rare=True,
        note=Message("One or more attributes, e.g. uid mail."),
        step="people",
    )
    email_attribute: str = option(
        Message("Email address", context="setting"), default="", is_rare=True, step="people"
    )
    name_attribute: str = option(
        Message("Display name", context="setting"), default="", is_rare=True, step="people"
    )
    subject_attribute: str = option(
        Message("Unique ID attribute"),
        default="",
        is_rare=True,
        note=Message(
            "An attribute that identifies a person and never changes, e.g. entryUUID or objectGUID."
        ),
        step="people",
    )
    nested: bool = option(
        Message("Resolve nested groups"), default=True, is_rare=True, step="people"
    )
    sync_minutes: int = option(
        Message("Sync interval", context="setting"),
        default=60,
        is_rare=True,
        note=Message("In minutes; 0 for manual syncs only."),
        step="people",
    )
    is_private: bool = option(
        Message("Private address", context="setting"),
        default=False,
        is_operators=True,
        note=Message(
            "Required for a directory on your own network. Only a platform operator can set this "
            "option."
        ),
    )
    plain: bool = option(
        Message("Without encryption", context="setting"),
        default=False,
        is_rare=True,
        note=Message("Sends passwords unencrypted. Use only on a network you fully control."),
    )

    def __post_init__(self) -> None:
        """Validate the settings. Raises InvalidInput with all errors at once."""
        raise_faults(*self._faults())

    def _faults(self) -> Iterator[tuple[str, str]]:
        """Yield (option, what is wrong with it, or nothing)."""
        yield "url", next(filter(None, map(_url_fault, self.urls)), "")
        if not self.urls:
            yield "url", Message("is required", context="part of a sentence")
        yield "people_base", _dn_fault(self.people_base)
        yield "group_base", _dn_fault(self.group_base)
        yield "people_filter", _filter_fault(self.people_filter)
        yield "group_filter", _filter_fault(self.group_filter)
        for name, value in (
            ("email_attribute", self.email_attribute),
            ("name_attribute", self.name_attribute),
            ("subject_attribute", self.subject_attribute),
            *(("login_attributes", word) for word in self.login_attributes),
        ):
            if value and not _ATTRIBUTE.fullmatch(value):
                yield (
                    name,
                    Message(
                        "{name} isn't the name of an attribute. Enter one such as uid.",
                        name=repr(value[:40]),
                    ),
                )
        if self.bind_dn and not self.bind_password:
            yield (
                "bind_password",
                Message(
                    "Enter the password of the bind DN. To search anonymously, clear the bind DN."
                ),
            )
        if self.bind_password and not self.bind_dn:
            yield (
                "bind_dn",
                Message("Enter the bind DN of this password, or clear the password."),
            )
        elif self.bind_dn and not re.search(r"[=@\\]", self.bind_dn):
            yield (
                "bind_dn",
                Message(
                    "{dn} isn't a DN. Enter one such as cn=muster,ou=services,dc=example,dc=com.",
                    dn=repr(self.bind_dn[:80]),
                ),
            )
        yield "ca", certificate_fault(self.ca)
        if not 0 <= self.sync_minutes <= 10_080:
            yield "sync_minutes", Message("Enter minutes from 0 to 10,080, which is a week.")

    @property
    def urls(self) -> list[str]:
        return self.url.split()

    @property
    def schema(self) -> DirectorySchema:
        """Return the preset with the overrides of this config."""
        usual = PRESETS[self.preset]
        return DirectorySchema(
            self.people_filter or usual.people,
            self.group_filter or usual.groups,
            self.login_attributes or usual.logins,
            (self.email_attribute,) if self.email_attribute else usual.emails,
            (self.name_attribute,) if self.name_attribute else usual.names,
            self.subject_attribute or usual.subject,
        )


def normalized_dn(dn: str) -> str:
    """Return the normalized form of a DN, in which rules and groups are compared."""
    return re.sub(r"\s*(?<!\\)([,=+])\s*", r"\1", dn.strip().lower())


def _url_fault(url: str) -> str:
    try:
        parts = urlsplit(url)
        good = (
            parts.scheme in {"ldap", "ldaps"}
            and parts.hostname
            and (parts.port or 1)
            and not parts.path.strip("/")
        )
    except ValueError:
        good = False
    if good and not parts.query and not parts.username:
        return ""
    return Message(
        "{url} isn't the address of a directory. Enter one such as ldaps://directory.example.com.",
        url=repr(url[:80]),
    )


def _dn_fault(dn: str) -> str:
    if not dn or _DN.match(dn):
        return ""
    return Message(
        "{dn} isn't a DN. Enter one such as ou=people,dc=example,dc=com.", dn=repr(dn[:80])
    )


def _filter_fault(text: str) -> str:
    """Check that parentheses balance, so that the filter cannot escape the one it is put into."""
    depth = 0
    for sign in text.replace("\\(", "").replace("\\)", ""):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            break
    if text and (depth or not text.startswith("(") or not text.endswith(")")):
        return Message("Enter one filter in parentheses, such as (objectClass=person).")
    return ""
