"""What is set of a SAML identity provider. No library of SAML is needed to read this."""

from __future__ import annotations

from dataclasses import dataclass

from portal.core.errors import InvalidInput
from portal.core.options import option
from workspaces.identity.oidc.settings import PRIVATE, REQUIRED, check_address, check_authority


@dataclass(frozen=True)
class Config:
    """One SAML identity provider."""

    metadata_url: str = option(
        "Metadata address",
        default="",
        note="Where the identity provider describes itself; or paste that below.",
    )
    metadata: str = option(
        "Metadata",
        default="",
        is_long=True,
        note="The XML, if it is not at an address that Muster can reach.",
    )
    groups_attribute: str = option(
        "Groups attribute",
        default="",
        note="Empty: groups, memberOf, or as Entra ID and AD FS call it.",
    )
    is_required: bool = option("Instead of passwords", default=False, note=REQUIRED)
    email_attribute: str = option("E-mail attribute", default="", is_rare=True)
    name_attribute: str = option("Display name attribute", default="", is_rare=True)
    subject_attribute: str = option(
        "Subject attribute",
        default="",
        is_rare=True,
        note="What is never given to another person, where that is not the NameID.",
    )
    entity_id: str = option(
        "Entity of the identity provider",
        default="",
        is_rare=True,
        note="Where the metadata describes several.",
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
        if not self.metadata_url and not self.metadata:
            raise InvalidInput.at("options.metadata_url", "is required, or the metadata itself")
        if self.metadata_url:
            check_address("metadata_url", self.metadata_url, is_plain=self.is_private)
        if self.metadata and "EntityDescriptor" not in self.metadata:
            raise InvalidInput.at(
                "options.metadata", "must be the whole XML, with an EntityDescriptor in it"
            )
        check_authority(self.ca)
