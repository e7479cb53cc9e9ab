"""Signing in to other applications through the portal. The protocol is allauth's; what differs: redirect addresses match to the
letter, and consent is asked once."""

from __future__ import annotations

from typing import Any

from allauth.idp.oidc import views
from allauth.idp.oidc.models import Client
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from portal.core.origins import origin_of
from portal.web.requests import CSP
from workspaces.models import Consent


class Authorization(views.AuthorizationView):
    """The page that asks, unless one has agreed before. Its form may lead to the application, and nowhere else."""

    template_name = "workspaces/issuer/consent.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        client = Client.objects.filter(id=request.GET.get("client_id", "")).first()
        if client is None or request.GET.get("redirect_uri") not in client.get_redirect_uris():
            return render(request, "workspaces/issuer/unknown.html", {"client": client}, status=400)
        return super().get(request, *args, **kwargs)  # type: ignore[no-any-return]

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        if self.request.method == "GET" and self._has_agreed():
            form = self.form_class(data={"scopes": self._scopes, "request": "agreed before"}, requested_scopes=self._scopes, user=self.request.user)
            if form.is_valid():
                return self.form_valid(form)
        response: HttpResponse = super().render_to_response(context, **kwargs)
        response.headers["Content-Security-Policy"] = CSP.replace("form-action 'self'", f"form-action 'self' {self._there}")
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        if self.request.method == "POST":
            agree(self.request.user, self._request_info["client_id"], form.cleaned_data["scopes"])
        return super().form_valid(form)  # type: ignore[no-any-return]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        asked = [(scope, views.get_adapter().scope_display.get(scope, scope)) for scope in self._scopes]
        return super().get_context_data(**kwargs) | {"asked": asked, "there": self._there}

    @property
    def _there(self) -> str:
        return origin_of(str(self._request_info.get("redirect_uri", "")))

    def _has_agreed(self) -> bool:
        if "consent" in str(self.request.GET.get("prompt", "")).split():
            return False
        row = Consent.objects.filter(user=self.request.user, client_id=self._request_info["client_id"]).first()
        return row is not None and set(self._scopes) <= set(row.scopes)


def agree(user: Any, client_id: str, scopes: list[str]) -> None:
    """Remembered until the application is removed."""
    row, _ = Consent.objects.get_or_create(user=user, client_id=client_id)
    row.scopes = sorted({*row.scopes, *scopes})
    row.save(update_fields=["scopes"])
