"""Settings of an OpenID provider; the form is generated from this class."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.core.options import Secret, option

SCOPE = "openid profile email"
_NONE = Secret("")
PRIVATE = Message(
    "Required for a service on your own network or without HTTPS. Only a platform operator can "
    "set this option."
)
REQUIRED = Message(
    "People with its e-mail domains must sign in with it. Owners keep their passwords in case it "
    "is unavailable."
)


@dataclass(frozen=True)
class Config:
    """The settings of one OpenID provider."""

    issuer: str = option(
        Message("Issuer"),
        sends=("client_secret",),
        note=Message(
            "Exactly as the provider shows it: the address before "
            "/.well-known/openid-configuration."
        ),
    )
    client_id: str = option(Message("Client ID"))
    client_secret: Secret = option(Message("Client secret"), default=_NONE)
    groups_claim: str = option(
        Message("Groups claim"),
        default="groups",
        note=Message("The claim that lists group names. Use dots for nested objects."),
    )
    is_required: bool = option(Message("Require single sign-on"), default=False, note=REQUIRED)
    scope: str = option(Message("Scope"), default=SCOPE, is_rare=True)
    subject_claim: str = option(
        Message("Subject claim"),
        default="sub",
        is_rare=True,
        note=Message("An ID that is never reassigned. With SCIM from Entra ID: oid."),
    )
    is_private: bool = option(
        Message("Private address"), default=False, note=PRIVATE, is_rare=True, is_operators=True
    )
    ca: str = option(
        Message("Certificate authority"),
        default="",
        note=Message("PEM text, trusted in addition to the system's authorities."),
        is_long=True,
        is_rare=True,
    )

    def __post_init__(self) -> None:
        """Validate the settings. Raises InvalidInput."""
        check_address("issuer", self.issuer, is_plain=self.is_private)
        if "openid" not in self.scope.split():
            raise InvalidInput.at(
                "options.scope",
                "must include openid, and email and profile if the provider supports them",
            )
        check_authority(self.ca)


def check_address(name: str, url: str, *, is_plain: bool) -> None:
    """Check that a URL has a scheme and a host that can be requested. Raises InvalidInput."""
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
            f"options.{name}",
            f"{url[:80]!r} isn't a valid address; use the form https://login.example.com/realm",
        )


def check_authority(text: str) -> None:
    """Check that the text is a PEM certificate. Raises InvalidInput."""
    if text and "BEGIN CERTIFICATE" not in text:
        raise InvalidInput.at(
            "options.ca",
            "must be a PEM certificate that begins with -----BEGIN CERTIFICATE-----",
        )
