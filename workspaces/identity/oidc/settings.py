"""What is set of an OpenID provider. Its form is drawn from this class."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from portal.core.errors import InvalidInput
from portal.core.options import Secret, option

SCOPE = "openid profile email"
_NONE = Secret("")
PRIVATE = "Needed for a service on your own network, or one without https. Only a platform operator can set it: ask one to connect it."
REQUIRED = "People of its domains then sign in with it; owners keep their passwords, for the day when it is down."


@dataclass(frozen=True)
class Config:
    """One OpenID provider."""

    issuer: str = option(
        "Issuer",
        sends=("client_secret",),
        note="Exactly as the provider writes it: the address before /.well-known/openid-configuration.",
    )
    client_id: str = option("Client ID")
    client_secret: Secret = option("Client secret", default=_NONE)  # noqa: RUF009  a Secret is a str: immutable
    groups_claim: str = option(
        "Groups claim",
        default="groups",
        note="Where the names of one's groups are; dots lead into objects.",
    )
    is_required: bool = option("Instead of passwords", default=False, note=REQUIRED)
    scope: str = option("Scope", default=SCOPE, is_rare=True)
    subject_claim: str = option(
        "Subject claim",
        default="sub",
        is_rare=True,
        note="What is never given to another person. With SCIM from Entra ID: oid.",
    )
    is_private: bool = option(
        "Private address", default=False, note=PRIVATE, is_rare=True, is_operators=True
    )
    ca: str = option(
        "Certificate authority",
        default="",
        note="PEM, to trust besides the system's.",
        is_long=True,
        is_rare=True,
    )

    def __post_init__(self) -> None:
        """Raises InvalidInput."""
        check_address("issuer", self.issuer, is_plain=self.is_private)
        if "openid" not in self.scope.split():
            raise InvalidInput.at(
                "options.scope",
                "must hold openid, and email and profile where the provider knows them",
            )
        check_authority(self.ca)


def check_address(name: str, url: str, *, is_plain: bool) -> None:
    """An address that can be asked. Raises InvalidInput."""
    try:
        parts = urlsplit(url)
        is_good = (
            parts.scheme in {"https", *(["http"] if is_plain else [])}
            and bool(parts.hostname)
            and (parts.port or 1)
        )
    except ValueError:
        is_good = False
    if not is_good or parts.username or parts.fragment or not url.isprintable() or " " in url:
        raise InvalidInput.at(
            f"options.{name}", f"{url[:80]!r} is no address like https://login.example.com/realm"
        )


def check_authority(text: str) -> None:
    """Raises InvalidInput."""
    if text and "BEGIN CERTIFICATE" not in text:
        raise InvalidInput.at(
            "options.ca",
            "must be a certificate as text, beginning with -----BEGIN CERTIFICATE-----",
        )
