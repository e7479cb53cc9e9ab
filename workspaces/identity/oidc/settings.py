"""Settings of an OpenID provider; the form is generated from this class."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from portal.core.messages import Message
from portal.core.options import Secret, option, raise_faults
from workspaces.identity.certificates import certificate_fault

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
        Message("Issuer", context="setting"),
        sends=("client_secret",),
        note=Message(
            "Exactly as the provider shows it: the address before "
            "/.well-known/openid-configuration."
        ),
    )
    client_id: str = option(Message("Client ID", context="setting"))
    client_secret: Secret = option(Message("Client secret", context="setting"), default=_NONE)
    groups_claim: str = option(
        Message("Groups claim", context="setting"),
        default="groups",
        note=Message("The claim that lists group names. Use dots for nested objects."),
        step="people",
    )
    is_required: bool = option(
        Message("Require single sign-on"), default=False, note=REQUIRED, step="people"
    )
    scope: str = option(Message("Scope", context="setting"), default=SCOPE, is_rare=True)
    subject_claim: str = option(
        Message("Subject claim", context="setting"),
        default="sub",
        is_rare=True,
        note=Message("An ID that is never reassigned. With SCIM from Entra ID: oid."),
        step="people",
    )
    is_private: bool = option(
        Message("Private address", context="setting"),
        default=False,
        note=PRIVATE,
        is_rare=True,
        is_operators=True,
    )
    ca: str = option(
        Message("Certificate authority", context="setting"),
        default="",
        note=Message("PEM text, trusted in addition to the system's authorities."),
        is_long=True,
        is_rare=True,
    )

    def __post_init__(self) -> None:
        """Validate the settings. Raises InvalidInput with all errors at once."""
        raise_faults(
            ("issuer", address_fault(self.issuer, is_plain=self.is_private)),
            (
                "scope",
                ""
                if "openid" in self.scope.split()
                else Message(
                    "must include openid, and email and profile if the provider supports them"
                ),
            ),
            ("ca", certificate_fault(self.ca)),
        )


def address_fault(url: str, *, is_plain: bool) -> str:
    """Return why a URL has no scheme and host that can be requested, or nothing."""
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
        return Message(
            "{url} isn't a valid address; use the form https://login.example.com/realm",
            url=repr(url[:80]),
        )
    return ""
