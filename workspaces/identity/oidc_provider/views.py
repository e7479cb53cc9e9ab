"""The authorization endpoint for applications that sign people in through the portal.

allauth implements the protocol. Here, redirect URIs must match exactly, and consent is asked once.
"""

from __future__ import annotations

from typing import Any

from allauth.idp.oidc import views
from allauth.idp.oidc.models import Client
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from portal.core.messages import Message
from portal.core.origins import origin_of
from portal.web.requests import CSP
from workspaces.identity.allauth_compat import add_query_params
from workspaces.models import Consent


class Authorization(views.AuthorizationView):
    """The consent page, skipped after an earlier consent; its form redirects to the client only."""

    template_name = "workspaces/issuer/consent.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        client = Client.objects.filter(id=request.GET.get("client_id", "")).first()
        is_doubled = any(
            len(values) > 1 for name, values in request.GET.lists() if name != "resource"
        )
        if (
            client is None
            or is_doubled
            or request.GET.get("redirect_uri") not in client.get_redirect_uris()
        ):
            return render(request, "workspaces/issuer/unknown.html", {"client": client}, status=400)
        if requires_pkce(client) and not (
            request.GET.get("code_challenge") and request.GET.get("code_challenge_method") == "S256"
        ):
            return self._redirect_with_error(
                "invalid_request",
                Message("This application must use PKCE (code_challenge_method S256)."),
            )
        if (
            self._is_prompt_none()
            and request.user.is_authenticated
            and not self._may_skip_consent(client)
        ):
            return self._redirect_with_error("consent_required")
        return super().get(request, *args, **kwargs)  # type: ignore[no-any-return]

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        if self.request.method == "GET" and self._has_agreed():
            form = self.form_class(
                data={"scopes": self._scopes, "request": "agreed before"},
                requested_scopes=self._scopes,
                user=self.request.user,
            )
            if form.is_valid():
                return self.form_valid(form)
        response: HttpResponse = super().render_to_response(context, **kwargs)
        response.headers["Content-Security-Policy"] = CSP.replace(
            "form-action 'self'", f"form-action 'self' {self._client_origin}"
        )
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        if self.request.method == "POST":
            agree(self.request.user, self._request_info["client_id"], form.cleaned_data["scopes"])
        return super().form_valid(form)  # type: ignore[no-any-return]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        request = [
            (scope, views.get_adapter().scope_display.get(scope, scope)) for scope in self._scopes
        ]
        return super().get_context_data(**kwargs) | {"asked": request, "there": self._client_origin}

    def _is_prompt_none(self) -> bool:
        return any("none" in prompt.split() for prompt in self.request.GET.getlist("prompt"))

    def _may_skip_consent(self, client: Client) -> bool:
        """Return whether prompt=none may succeed: only a consent for this application counts.

        allauth would accept a token of any application.
        """
        query = {scope for text in self.request.GET.getlist("scope") for scope in text.split()} or {
            *client.get_default_scopes()
        }
        return client.skip_consent or self._agreed_to(client.pk, query)

    def _redirect_with_error(self, error: str, words: str = "") -> HttpResponse:
        """Redirect to the application, at the registered address."""
        answer = HttpResponse(status=302)
        state = {"state": self.request.GET["state"]} if "state" in self.request.GET else {}
        texts = {"error": error, **({"error_description": words} if words else {})}
        answer.headers["Location"] = add_query_params(
            self.request.GET["redirect_uri"], {**texts, **state}
        )
        return answer

    @property
    def _client_origin(self) -> str:
        return origin_of(str(self._request_info.get("redirect_uri", "")))

    def _has_agreed(self) -> bool:
        if "consent" in str(self.request.GET.get("prompt", "")).split():
            return False
        return self._agreed_to(self._request_info["client_id"], {*self._scopes})

    def _agreed_to(self, client_id: str, scopes: set[str]) -> bool:
        row = Consent.objects.filter(user=self.request.user, client_id=client_id).first()
        return row is not None and scopes <= set(row.scopes)


def requires_pkce(client: Client) -> bool:
    """Return whether codes require PKCE, which an operator may have waived for this application."""
    return bool((client.data or {}).get("needs_pkce"))


def agree(user: Any, client_id: str, scopes: list[str]) -> None:
    """Store a consent, until it is withdrawn or the application removed."""
    row, _ = Consent.objects.get_or_create(user=user, client_id=client_id)
    row.scopes = sorted({*row.scopes, *scopes})
    row.save(update_fields=["scopes"])
