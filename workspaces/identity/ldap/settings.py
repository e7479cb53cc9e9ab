"""How to reach a directory, and what its entries mean. No library of LDAP is needed to read this."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from portal.core.errors import InvalidInput
from portal.core.options import Secret, option

_NONE = Secret("")
_ATTRIBUTE = re.compile(r"[A-Za-z][A-Za-z0-9;-]{0,99}")


@dataclass(frozen=True)
class Meaning:
    """The attributes of one kind of directory."""

    people: str
    groups: str
    logins: tuple[str, ...]
    emails: tuple[str, ...]
    names: tuple[str, ...]
    subject: str


PRESETS = {
    "OpenLDAP": Meaning(
        "(objectClass=person)",
        "(|(objectClass=groupOfNames)(objectClass=groupOfUniqueNames)(objectClass=posixGroup))",
        ("uid", "mail"),
        ("mail",),
        ("displayName", "cn"),
        "entryUUID",
    ),
    "Active Directory": Meaning(
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
    """One directory."""

    url: str = option(
        "Address",
        sends=("bind_password",),
        note="ldaps://directory.example.com, or ldap://… which then speaks StartTLS. "
        "Several, separated by spaces, are tried in turn.",
    )
    people_base: str = option("People below", note="ou=people,dc=example,dc=com")
    preset: str = option(
        "Directory",
        default="OpenLDAP",
        choices=tuple(PRESETS),
        note="Sets the attributes below, which may differ.",
    )
    bind_dn: str = option(
        "Reader",
        default="",
        note="The DN that searches, as cn=muster,ou=services,dc=example,dc=com. Empty: nobody's.",
    )
    bind_password: Secret = option("Reader's password", default=_NONE)  # noqa: RUF009  a Secret is a str
    group_base: str = option(
        "Groups below",
        default="",
        note="ou=groups,dc=example,dc=com. Empty: rules can only name everybody.",
    )
    ca: str = option(
        "CA certificate",
        default="",
        is_long=True,
        note="PEM text, where the machine does not trust it already.",
    )
    people_filter: str = option(
        "Which are people", default="", is_rare=True, note="A filter, as (objectClass=person)."
    )
    group_filter: str = option("Which are groups", default="", is_rare=True)
    login_attributes: tuple[str, ...] = option(
        "Sign in by", default=(), is_rare=True, note="Attributes, as uid mail."
    )
    email_attribute: str = option("E-mail address", default="", is_rare=True)
    name_attribute: str = option("Display name", default="", is_rare=True)
    subject_attribute: str = option(
        "Never changes",
        default="",
        is_rare=True,
        note="What tells one person from another for ever: entryUUID, objectGUID.",
    )
    nested: bool = option("Groups in groups count", default=True, is_rare=True)
    sync_minutes: int = option(
        "Sync every", default=60, is_rare=True, note="Minutes; 0: only by hand."
    )
    is_private: bool = option(
        "Private address",
        default=False,
        is_operators=True,
        note="Needed for a directory on your own network. Only a platform operator can set it: ask one to connect it.",
    )
    plain: bool = option(
        "Without encryption",
        default=False,
        is_rare=True,
        note="Passwords cross the network for everybody on the way to read. Only for a network that is yours alone.",
    )

    def __post_init__(self) -> None:
        """Raises InvalidInput."""
        for url in self.urls:
            _check_url(url)
        if not self.urls:
            raise InvalidInput.at("options.url", "is required")
        for name in ("people_filter", "group_filter"):
            _check_filter(name, getattr(self, name))
        for name, value in (
            ("email_attribute", self.email_attribute),
            ("name_attribute", self.name_attribute),
            ("subject_attribute", self.subject_attribute),
            *(("login_attributes", word) for word in self.login_attributes),
        ):
            if value and not _ATTRIBUTE.fullmatch(value):
                raise InvalidInput.at(f"options.{name}", f"{value[:40]!r} is no attribute's name")
        if self.bind_dn and not self.bind_password:
            raise InvalidInput.at(
                "options.bind_password",
                "is required where there is a reader: without one many servers answer as to nobody",
            )
        if self.ca and "BEGIN CERTIFICATE" not in self.ca:
            raise InvalidInput.at(
                "options.ca",
                "must be a certificate as text, beginning with -----BEGIN CERTIFICATE-----",
            )
        if not 0 <= self.sync_minutes <= 10_080:
            raise InvalidInput.at("options.sync_minutes", "must be between 0 and 10,080 (a week)")

    @property
    def urls(self) -> list[str]:
        return self.url.split()

    @property
    def meaning(self) -> Meaning:
        """The preset, with what was said otherwise."""
        usual = PRESETS[self.preset]
        return Meaning(
            self.people_filter or usual.people,
            self.group_filter or usual.groups,
            self.login_attributes or usual.logins,
            (self.email_attribute,) if self.email_attribute else usual.emails,
            (self.name_attribute,) if self.name_attribute else usual.names,
            self.subject_attribute or usual.subject,
        )


def dn_key(dn: str) -> str:
    """A DN in the one form that rules and people's groups are compared in."""
    return re.sub(r"\s*(?<!\\)([,=+])\s*", r"\1", dn.strip().lower())


def _check_url(url: str) -> None:
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
    if not good or parts.query or parts.username:
        raise InvalidInput.at(
            "options.url",
            f"{url[:80]!r} is no address like ldaps://directory.example.com or ldap://10.0.0.5:389",
        )


def _check_filter(name: str, text: str) -> None:
    """Balanced, so that what is added to it stays outside of it."""
    depth = 0
    for sign in text.replace("\\(", "").replace("\\)", ""):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            break
    if text and (depth or not text.startswith("(") or not text.endswith(")")):
        raise InvalidInput.at(
            f"options.{name}", "must be one filter in brackets, as (objectClass=person)"
        )
