"""Extract a person from a provider's claims or assertion. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from portal.core.email_addresses import normalized_email

MOST_GROUPS, LONGEST = 2000, 400


class InvalidClaims(Exception):
    """The claims identify nobody; the message explains why to the person."""


@dataclass(frozen=True)
class ProviderClaims:
    """A person as their provider describes them at this sign-in.

    `email` is empty if no usable address was sent; `why` then says why. `groups` is None if groups
    were not sent, unlike an empty set. It is also None if they could not be understood or were too
    many to send: `groups_why` then says why, and roles that depend on groups must not be trusted.
    """

    subject: str
    email: str = ""
    name: str = ""
    login: str = ""
    groups: frozenset[str] | None = None
    why: str = ""
    groups_why: str = ""


def claims_from_oidc(
    claims: Mapping[str, Any], *, subject_claim: str = "sub", groups_claim: str = "groups"
) -> ProviderClaims:
    """Extract a person from OpenID Connect claims. Raises InvalidClaims."""
    email, why = _email(claims)
    groups, groups_why = (
        (None, OVERAGE)
        if _is_overage(claims, groups_claim)
        else groups_in(_claim_at(claims, groups_claim))
    )
    return ProviderClaims(
        checked_subject(claims.get(subject_claim), subject_claim),
        email,
        _text(claims.get("name")),
        _text(claims.get("preferred_username")) or email,
        groups,
        why,
        groups_why,
    )


def _is_overage(claims: Mapping[str, Any], groups_claim: str) -> bool:
    """Return whether the groups are elsewhere (distributed claims), as Entra ID does with many."""
    elsewhere, named = claims.get("_claim_names"), {groups_claim, groups_claim.partition(".")[0]}
    if not isinstance(elsewhere, Mapping):
        elsewhere = named if elsewhere else {}
    has_groups = str(claims.get("hasgroups") or False).lower() != "false"
    return bool(named & set(elsewhere)) or (groups_claim == "groups" and has_groups)


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
    given = [one for key in ([email] if email else EMAILS) for one in _values(attributes.get(key))]
    if not given and assertion["format"] in _ADDRESSES:
        given = [assertion["nameid"]]
    address, instead = email_in(given)
    found, groups_why = groups_in(
        next(
            (attributes[key] for key in ([groups] if groups else GROUPS) if key in attributes), None
        )
    )
    if OVERAGE_LINK in attributes and groups in ("", "groups", MICROSOFT_GROUPS):
        found, groups_why = None, OVERAGE
    return ProviderClaims(
        checked_subject(who, subject or "NameID"),
        address,
        _text(_first(attributes, [name] if name else NAMES)),
        address,
        found,
        "" if address else _why_no_email(instead),
        groups_why,
    )


def _first(attributes: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((one for name in names for one in _values(attributes.get(name))), None)


def _values(value: Any) -> Sequence[Any]:
    """Return the values of an attribute, which is a list, a single value or missing."""
    if isinstance(value, (list, tuple)):
        return value
    return [] if value in (None, "") else [value]


_CLAIMS = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims"
_MICROSOFT = "http://schemas.microsoft.com"
MICROSOFT_GROUPS = f"{_MICROSOFT}/ws/2008/06/identity/claims/groups"
OVERAGE_LINK = f"{_MICROSOFT}/claims/groups.link"  # sent in place of more groups than fit
OVERAGE = "you are in more groups than it sends"
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
    MICROSOFT_GROUPS,
    f"{_MICROSOFT}/ws/2008/06/identity/claims/role",
)


def groups_in(value: Any) -> tuple[frozenset[str] | None, str]:
    """Return the group names in a list or a string, or None and why they can't be understood.

    Without a value both are empty. One entry that isn't a name makes all of them unknown, because
    groups that are left out would take roles away.
    """
    if value is None:
        return None, ""
    if isinstance(value, str) and not value.lstrip().startswith(("[", "{")):
        value = [value]
    if not isinstance(value, (list, tuple)):
        return None, "it sent your groups in a form that isn't a list of names"
    if not all(isinstance(one, str) and one.strip() for one in value):
        return None, "it sent groups that aren't names"
    # A name that no rule can have (`provider_services`) grants nothing.
    found = frozenset(one for one in value if len(one) <= LONGEST and one.isprintable())
    if len(found) > MOST_GROUPS:
        return None, f"it sent more than {MOST_GROUPS} groups"
    return found, ""


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


def email_in(values: Iterable[Any]) -> tuple[str, str]:
    """Return the first value that is an e-mail address, or "" and, quoted, what was sent instead.

    Both are empty if nothing was sent.
    """
    given = [value for value in values if value not in (None, "")]
    email = next((found for value in given if (found := normalized_email(value))), "")
    return email, "" if email or not given else repr(str(given[0])[:80])


def _why_no_email(instead: str) -> str:
    why = "it didn't send your e-mail address"
    return f"{why} but {instead}, which can't be used as one" if instead else why


def is_within(email: str, domains: Iterable[str]) -> bool:
    """Return whether an address is in one of the domains; no domains means no restriction.

    An organization's provider without domains creates no accounts; its caller checks that.
    """
    known = list(domains)
    return not known or email.rpartition("@")[2] in known


def _email(claims: Mapping[str, Any]) -> tuple[str, str]:
    given = (claims.get(name) for name in ("email", "preferred_username", "upn"))
    email, instead = email_in([next((value for value in given if value not in (None, "")), None)])
    if email and not _is_true(claims.get("email_verified", True)):
        return "", f"it hasn't verified your address {email}"
    return email, "" if email else _why_no_email(instead)


def _is_true(value: Any) -> bool:
    """Return whether a claim is true, which some providers send as a string."""
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _text(value: Any) -> str:
    text = " ".join(value.split())[:100] if isinstance(value, str) else ""
    return text if text.isprintable() else ""


def _claim_at(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim by its name, or by a dotted path such as `realm_access.roles`."""
    if not name or name in claims:
        return claims.get(name) if name else None
    value: Any = claims
    for part in name.split("."):
        if not isinstance(value, Mapping):
            return value and {}  # something is there, but not what the path says
        value = value.get(part)
    return value
