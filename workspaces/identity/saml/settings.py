"""Settings of a SAML identity provider; needs no SAML library."""

from __future__ import annotations

from dataclasses import dataclass

from portal.core.messages import Message
from portal.core.options import option, raise_faults
from workspaces.identity.certificates import certificate_fault
from workspaces.identity.oidc.settings import PRIVATE, REQUIRED, address_fault


@dataclass(frozen=True)
class Config:
    """The settings of one SAML identity provider."""

    metadata_url: str = option(
        Message("Metadata URL", context="setting"),
        default="",
        note=Message(
            "The URL of the identity provider's metadata. You can also paste the metadata below."
        ),
    )
    metadata: str = option(
        Message("Metadata", context="setting"),
        default="",
        is_long=True,
        note=Message("The XML, if Muster can't reach it at a URL."),
    )
    groups_attribute: str = option(
        Message("Groups attribute", context="setting"),
        default="",
        note=Message("If empty: groups, memberOf, or the names that Entra ID and AD FS use."),
        step="people",
    )
    is_required: bool = option(
        Message("Require single sign-on"), default=False, note=REQUIRED, step="people"
    )
    email_attribute: str = option(
        Message("Email attribute", context="setting"), default="", is_rare=True, step="people"
    )
    name_attribute: str = option(
        Message("Display name attribute"), default="", is_rare=True, step="people"
    )
    subject_attribute: str = option(
        Message("Subject attribute", context="setting"),
        default="",
        is_rare=True,
        note=Message("An attribute that is never reassigned, if the NameID isn't."),
        step="people",
    )
    entity_id: str = option(
        Message("Entity ID of the identity provider"),
        default="",
        is_rare=True,
        note=Message("Needed if the metadata describes several."),
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
            (
                "metadata_url",
                address_fault(self.metadata_url, is_plain=self.is_private)
                if self.metadata_url
                else ""
                if self.metadata
                else Message("is required, unless you paste the metadata"),
            ),
            (
                "metadata",
                Message("must be complete XML with an EntityDescriptor")
                if self.metadata and "EntityDescriptor" not in self.metadata
                else "",
            ),
            ("ca", certificate_fault(self.ca)),
        )
