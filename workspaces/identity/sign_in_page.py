"""The sign-in page, which works without scripts.

Without single sign-on, it asks for address and password; otherwise for the address first, and then
offers the matching providers.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from allauth.account.views import LoginView
from django.http import HttpRequest, HttpResponse

from portal.core.declarations import declared
from workspaces.identity.provider_rows import KINDS
from workspaces.models import Provider
from workspaces.organizations.bootstrap import awaits_first_sign_in
from workspaces.tenancy.scope import platform_scope


def notices() -> list[str]:
    """Return what apps above show on the page, such as what keeps the portal from working."""
    return [text for texts in declared("providers", "SIGN_IN_NOTICES") for text in texts()]


class SignInView(LoginView):
    """The sign-in form in two steps at one URL; the posted fields determine the step."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "password" not in request.POST:
            return self.render_to_response(
                self.get_context_data(form=self.get_form_class()(request=request))
            )
        answer: HttpResponse = super().post(request, *args, **kwargs)
        refusal = getattr(request, "refusal", None)
        if (
            refusal is not None and refusal.retryable
        ):  # The form shows the reason; the status and the header say when to retry.
            answer.status_code = refusal.http
            answer["Retry-After"] = str(refusal.data.get("retry_after", 60))
        return answer

    @platform_scope("sign-in offers providers of all organizations")
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        login = str(self.request.POST.get("login") or "").strip()[:254]
        onward = self.request.POST.get("next") or self.request.GET.get("next") or ""
        found = providers_for(login, onward)
        is_first = not login and Provider.objects.filter(kind__in=KINDS, is_enabled=True).exists()
        return super().get_context_data(**kwargs) | {
            "login": login,
            "providers": found,
            "is_first_step": is_first,
            "next": onward,
            "directories": own_directories(onward),
            "directory": self.request.POST.get("directory", ""),
            "tells_of_first_password": not found and not is_first and awaits_first_sign_in(),
            "notices": notices(),
            "is_required": any(p.config.get("is_required") for p in found if login),
        }


@platform_scope("sign-in offers providers of all organizations")
def providers_for(login: str, address: str = "") -> list[Provider]:
    """Return the providers to offer.

    These serve the address's domain, or all domains of the installation, or belong to the
    organization whose page the person comes from.
    """
    domain, slug = (
        login.lower().rpartition("@")[2] if "@" in login else "",
        _organization_in(address),
    )
    rows = (
        Provider.objects.filter(kind__in=KINDS, is_enabled=True)
        .select_related("org")
        .order_by("name")
    )
    return [
        row
        for row in rows
        if (domain and domain in row.domains)
        or (row.org is None and not row.domains)
        or (row.org and row.org.slug == slug)
    ]


@platform_scope("sign-in offers an organization's directories")
def own_directories(address: str) -> list[Provider]:
    """Return the directories of the organization whose page the person comes from.

    An organization's directory gets a password only if the person selects it.
    """
    slug = _organization_in(address)
    return (
        list(
            Provider.objects.filter(
                kind=Provider.Kind.LDAP, is_enabled=True, org__slug=slug
            ).order_by("name")
        )
        if slug
        else []
    )


def _organization_in(address: str) -> str:
    """Return the organization's slug in a URL; "" for an invalid URL."""
    try:
        return urlsplit(address).path.strip("/").partition("/")[0]
    except ValueError:
        return ""


sign_in = SignInView.as_view()
