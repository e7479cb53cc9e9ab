"""Claims about people for applications that sign them in through the portal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from allauth.idp.oidc.adapter import DefaultOIDCAdapter
from allauth.idp.oidc.models import Client, PrivateKey
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy as pgettext

from workspaces.identity.allauth_compat import filter_keys
from workspaces.identity.oidc_provider.keys import signing_keys
from workspaces.identity.session_policy import orgs_requiring_sso
from workspaces.models import Identity, Membership, TeamMembership, User
from workspaces.tenancy.scope import platform_scope

SCOPES = {
    "openid": _("Your identity (a permanent ID)"),
    "email": _("Your email address"),
    "profile": pgettext("text, workspaces", "Your name"),
    "groups": _("Your organizations and teams"),
}


class IssuerAdapter(DefaultOIDCAdapter):
    """allauth's OpenID provider with our claims; `groups` are slugs: `atlas`, `atlas/vision`."""

    scope_display = SCOPES

    def get_issuer(self) -> str:
        return settings.MUSTER_BASE_URL

    def list_private_keys(
        self, *, did_activate: Any = None, is_active: Any = None
    ) -> list[PrivateKey]:
        return filter_keys(signing_keys(), did_activate=did_activate, is_active=is_active)  # type: ignore[no-any-return]

    def populate_server_metadata(self, data: dict[str, Any]) -> None:
        """Describe what this server supports, rather than all that the library does."""
        data |= {
            "scopes_supported": list(SCOPES),
            "response_types_supported": ["code"],
            "claims_supported": [
                "sub",
                "email",
                "email_verified",
                "name",
                "preferred_username",
                "groups",
            ],
            "grant_types_supported": [
                Client.GrantType.AUTHORIZATION_CODE.value,
                Client.GrantType.DEVICE_CODE.value,
                Client.GrantType.REFRESH_TOKEN.value,
            ],
        }

    def get_claims(
        self,
        purpose: Any,
        user: Any,
        client: Client,
        scopes: Iterable[str],
        email: str | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        wanted = set(scopes)
        claims: dict[str, Any] = {"sub": self.get_user_sub(client, user)}
        if "email" in wanted:
            claims |= {"email": user.email, "email_verified": is_verified(user)}
        if "profile" in wanted:
            claims |= {"name": user.display_name, "preferred_username": user.email}
        if "groups" in wanted:
            claims["groups"] = groups_of(user)
        return claims


def is_verified(user: User) -> bool:
    """Return whether a provider of the whole installation confirms the account's address.

    Organization administrators, and an organization's provider, can set any address. Other
    applications must not let it take over an account there.
    """
    return Identity.objects.filter(
        user=user, provider__org=None, gone_since=None, email=user.email
    ).exists()


def groups_of(user: User) -> list[str]:
    """Return the organizations and teams of active memberships that the user can enter."""
    closed = orgs_requiring_sso(user)
    with platform_scope("groups claim of a user"):
        rows = Membership.objects.filter(user=user, suspended_at=None).exclude(org_id__in=closed)
        rows = rows if user.has_second_factor else rows.exclude(org__requires_second_factor=True)
        orgs = dict(rows.values_list("org_id", "org__slug"))
        teams = TeamMembership.objects.filter(user=user, org_id__in=orgs).values_list(
            "org_id", "team__slug"
        )
        return sorted([*orgs.values(), *(f"{orgs[org_id]}/{team}" for org_id, team in teams)])
