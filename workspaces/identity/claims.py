"""Extract a person from a provider's claims or assertion. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_GROUPS, LONGEST = 2000, 400
_ADDRESS = re.compile(r"[^@\s\x00-\x1f<>\"']{1,64}@[a-z0-9.-]{1,185}")


class InvalidClaims(Exception):
    """The claims identify nobody; the message explains why to the person."""


@dataclass(frozen=True)
class ProviderClaims:
    """A person as their provider describes them at this sign-in.

    `email` is empty if no usable address was sent; `why` then says why. `groups` is None if groups
    were not sent, unlike an empty set.
    """

    subject: str
    email: str = ""
    name: str = ""
    login: str = ""
    groups: frozenset[str] | None = None
    why: str = ""


def claims_from_oidc(
    claims: Mapping[str, Any], *, subject_claim: str = "sub", groups_claim: str = "groups"
) -> ProviderClaims:
    """Extract a person from OpenID Connect claims. Raises InvalidClaims."""
    email, why = _email(claims)
    return ProviderClaims(
        _subject(claims.get(subject_claim), subject_claim),
        email,
        _text(claims.get("name")),
        _text(claims.get("preferred_username")) or email,
        groups_in(_claim_at(claims, groups_claim)),
        why,
    )


def claims_from_saml(
    assertion: Mapping[str, Any],
    *,
    subject: str = "",
    email: str = "",
    name: str = "",
    groups: str = "",
) -> ProviderClaims:
    """Extract a person from a SAML assertion, by configured or common attribute names.

    Raises InvalidClaims.
    """
    attributes: Mapping[str, Any] = assertion["attributes"]
    if not subject and assertion["format"] == _TRANSIENT:
        raise InvalidClaims(
            "its NameID changes at each sign-in; set a subject attribute, or configure a "
            "persistent NameID there"
        )
    who = _first(attributes, [subject]) if subject else assertion["nameid"]
    address = checked_email(
        _first(attributes, [email] if email else EMAILS)
        or (assertion["nameid"] if assertion["format"] in _ADDRESSES else "")
    )
    found = next(
        (attributes[key] for key in ([groups] if groups else GROUPS) if key in attributes), None
    )
    return ProviderClaims(
        checked_subject(who, subject or "NameID"),
        address,
        _text(_first(attributes, [name] if name else NAMES)),
        address,
        groups_in(found),
        "" if address else "it didn't send your e-mail address",
    )


def _first(attributes: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((attributes[name][0] for name in names if attributes.get(name)), None)


_CLAIMS = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims"
_MICROSOFT = "http://schemas.microsoft.com"
_TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
_ADDRESSES = ("urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",)
EMAILS = (
    "email",
    "mail",
    "emailAddress",
    "urn:oid:0.9.2342.19200300.100.1.3",
    f"{_CLAIMS}/emailaddress",
    f"{_CLAIMS}/upn",
)
NAMES = (
    "displayName",
    "name",
    "cn",
    "urn:oid:2.16.840.1.113730.3.1.241",
    "urn:oid:2.5.4.3",
    f"{_MICROSOFT}/identity/claims/displayname",
    f"{_CLAIMS}/name",
)
GROUPS = (
    "groups",
    "memberOf",
    "urn:oid:1.3.6.1.4.1.5923.1.5.1.1",
    f"{_MICROSOFT}/ws/2008/06/identity/claims/groups",
    f"{_MICROSOFT}/ws/2008/06/identity/claims/role",
)


def groups_in(value: Any) -> frozenset[str] | None:
    """Return group names from a list or a string, None if nothing was sent.

    Raises InvalidClaims.
    """
    if value is None:
        return None
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Sequence):
        raise InvalidClaims("its groups are neither a list of names nor a single name")
    found = frozenset(
        one
        for one in value
        if isinstance(one, str) and 0 < len(one) <= LONGEST and one.isprintable()
    )
    if len(found) > MOST_GROUPS:
        raise InvalidClaims(f"it sent more than {MOST_GROUPS} groups")
    return found


def checked_subject(value: Any, name: str) -> str:
    """Return a valid subject. Raises InvalidClaims."""
    if (
        not isinstance(value, str)
        or not value.strip()
        or len(value) > LONGEST
        or not value.isprintable()
    ):
        raise InvalidClaims(f"it sent no usable {name!r}, which is needed to identify you")
    return value


def checked_email(value: Any) -> str:
    """Return the address in lower case, or "" if it is invalid."""
    email = value.strip().lower() if isinstance(value, str) else ""
    return email if _ADDRESS.fullmatch(email) else ""


def is_within(email: str, domains: Iterable[str]) -> bool:
    """Return whether an address is in one of the domains; no domains means no restriction.

    An organization's provider without domains creates no accounts; its caller checks that.
    """
    known = list(domains)
    return not known or email.rpartition("@")[2] in known


_subject = checked_subject


def _email(claims: Mapping[str, Any]) -> tuple[str, str]:
    given = claims.get("email") or claims.get("preferred_username") or claims.get("upn")
    email = checked_email(given)
    if not email:
        return "", "it didn't send your e-mail address"
    if claims.get("email_verified") in (False, "false"):
        return "", f"it hasn't verified your address {email}"
    return email, ""


def _text(value: Any) -> str:
    text = " ".join(value.split())[:100] if isinstance(value, str) else ""
    return text if text.isprintable() else ""


def _claim_at(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim by its name, or by a dotted path such as `realm_access.roles`."""
    if not name or name in claims:
        return claims.get(name) if name else None
    value: Any = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
