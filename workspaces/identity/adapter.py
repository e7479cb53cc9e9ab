"""Restrict allauth's provider flows: only our providers, and no accounts or links by its rules."""

from __future__ import annotations

from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from django.http import HttpRequest

from portal.core.outbound import Session
from workspaces.identity.error_messages import why_of
from workspaces.identity.http_client import session
from workspaces.identity.oidc.protocol import OidcProvider
from workspaces.identity.provider_rows import oidc_app, provider_named
from workspaces.identity.provider_services import config_of
from workspaces.identity.views import arrive, refused
from workspaces.models import Provider


class SsoAdapter(DefaultSocialAccountAdapter):
    """allauth's adapter: providers by slug; results go to `workspaces.identity.views.arrive`."""

    def get_requests_session(self) -> Session:
        return session()

    def list_apps(
        self, request: HttpRequest, provider: Any = None, client_id: Any = None
    ) -> list[SocialApp]:
        """Ignore rows in allauth's own table."""
        return []

    def list_providers(self, request: HttpRequest) -> list[Any]:
        return []

    def get_provider(self, request: HttpRequest, provider: Any, client_id: Any = None) -> Any:
        row = provider_named(provider)
        if row.kind == Provider.Kind.OIDC:
            return OidcProvider(request, app=oidc_app(row))
        from workspaces.identity.saml.protocol import SamlProvider, saml_app

        return SamlProvider(request, app=saml_app(row.slug, row.name, config_of(row)))

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        raise ImmediateHttpResponse(arrive(request, sociallogin))

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: Any = None,
    ) -> None:
        raise ImmediateHttpResponse(
            refused(
                request,
                provider.app.provider_id,
                why_of(exception, error),
                is_theirs=exception is not None,
            )
        )
