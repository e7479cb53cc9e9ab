"""`muster login`: the device authorization grant (RFC 8628).

It issues one of the portal's access tokens, for the organization that the person selects on the
page. Codes are valid for ten minutes.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from allauth.idp.oidc import views
from allauth.idp.oidc.forms import ConfirmCodeForm
from allauth.idp.oidc.models import Client
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from oauthlib.oauth2.rfc6749.errors import OAuth2Error

from portal.core.errors import NotFound, PortalError
from portal.core.messages import Message
from workspaces.access.actors import Actor, actor_of, restrict_to_org
from workspaces.credentials.tokens import NewToken, create_token
from workspaces.identity.allauth_compat import device_codes, ratelimit
from workspaces.identity.oidc_provider.agreements import discard_without_consent
from workspaces.identity.oidc_provider.refresh_tokens import refreshed
from workspaces.identity.rate_limit_cache import durable
from workspaces.models import Organization, User
from workspaces.organizations import selectors
from workspaces.tenancy.scope import org_scope

CLIENT = "muster-cli"
DAYS = 90


class DeviceCode(views.DeviceCodeView):
    """Issue a device code; the request names the machine, which the page shows."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not ratelimit.consume(request, app="allauth.idp.oidc", action="device_code"):
            return JsonResponse(
                {
                    "error": "temporarily_unavailable",
                    "error_description": Message(
                        "Too many codes were requested from this address. Try again in a minute."
                    ),
                },
                status=429,
                headers={"Retry-After": "60"},
            )
        if request.POST.get("client_id") == CLIENT:
            ensure_client()
        response = super().post(request, *args, **kwargs)
        if response.status_code == 200:
            _keep(_json(response)["device_code"], machine=_clean(request.POST.get("machine", "")))
        return response  # type: ignore[no-any-return]


class Token(views.TokenView):
    """allauth's token endpoint, extended for the command line and for refresh tokens."""

    def _create_token_response(self, request: HttpRequest, **more: Any) -> HttpResponse:
        def answer() -> HttpResponse:
            return super(Token, self)._create_token_response(request, **more)  # type: ignore[no-any-return]

        grant = request.POST.get("grant_type")
        if grant == "refresh_token":
            return discard_without_consent(refreshed(request, answer))
        return discard_without_consent(answer()) if grant == "authorization_code" else answer()

    def _post_device_token(self, request: HttpRequest) -> HttpResponse:
        if request.POST.get("client_id") != CLIENT:
            return super()._post_device_token(request)  # type: ignore[no-any-return]
        try:
            user, data = device_codes.poll_device_code(request)
            made = token_for(user, data)  # type: ignore[arg-type]
        except OAuth2Error as error:
            return HttpResponse(
                error.json, content_type="application/json", status=error.status_code
            )
        except PortalError as error:
            return JsonResponse(
                {"error": "access_denied", "error_description": error.message}, status=400
            )
        answer = JsonResponse(
            {
                "access_token": made.secret,
                "token_type": "Bearer",
                "expires_in": DAYS * 86_400,
                "org": data["org"],
            }
        )
        answer.headers["Cache-Control"] = "no-store"
        return answer


@never_cache
@login_required
def device(request: Any) -> HttpResponse:
    """Show the page to enter a code, select an organization, and confirm or deny."""
    form = ConfirmCodeForm(request.GET) if "code" in request.GET else ConfirmCodeForm()
    shown: dict[str, Any] = {"form": form, "page_title": Message("Sign in the command line")}
    if not (form.is_bound and form.is_valid()):
        return render(request, "workspaces/issuer/device_code.html", shown)
    data = durable.get(device_codes.cache_device_code_key(form.device_code)) or {}
    orgs = selectors.orgs_of(request.actor)
    shown |= {
        "orgs": orgs,
        "machine": data.get("machine", ""),
        "code": data["device"]["user_code"],
        "days": DAYS,
        "here": next(
            (
                o["slug"]
                for o in orgs
                if o["slug"] == request.COOKIES.get(settings.MUSTER_ORG_COOKIE_NAME)
            ),
            "",
        ),
    }
    if request.method != "POST":
        return render(request, "workspaces/issuer/device_confirm.html", shown)
    is_agreed = request.POST.get("action") == "confirm"
    if is_agreed:
        slug = request.POST.get("org", "")
        if slug not in {org["slug"] for org in orgs}:
            raise NotFound(Message("Select one of your organizations."))
        _keep(
            form.device_code,
            org=slug,
            only=str(request.actor.only_org or ""),
            vouched_by=str(request.actor.vouched_by or ""),
        )
    device_codes.confirm_or_deny_device_code(request.user, form.device_code, confirm=is_agreed)
    return render(request, "workspaces/issuer/device_done.html", shown | {"is_agreed": is_agreed})


def token_for(user: User, data: dict[str, Any]) -> NewToken:
    """Create a token with the person's current permissions. Raises NotFound, NotPermitted."""
    org = Organization.objects.filter(slug=data.get("org", "")).first()
    if org is None:
        raise NotFound(Message("The organization no longer exists."))
    actor: Actor = actor_of(user)
    if only := data.get("only"):  # confirmed in a session limited to one organization
        actor = restrict_to_org(
            actor, UUID(only), UUID(data["vouched_by"]) if data.get("vouched_by") else None
        )
    actor = actor.enter(org)
    with org_scope(org.id):
        return create_token(
            actor=actor,
            org=org,
            name=f"muster login {data.get('machine', '')}".strip(),
            scopes=["all"],
            days=DAYS,
        )


def ensure_client() -> Client:
    """Return the built-in client of the command line; public, as it runs on people's machines."""
    return Client.objects.get_or_create(
        id=CLIENT,
        defaults={
            "name": "Muster command line",
            "type": Client.Type.PUBLIC,
            "grant_types": Client.GrantType.DEVICE_CODE.value,
            "response_types": "",
            "scopes": "openid",
            "redirect_uris": "",
        },
    )[0]


def _keep(device_code: str, **more: Any) -> None:
    data = durable.get(device_codes.cache_device_code_key(device_code))
    if data is not None:
        device_codes.update_device_state(device_code, data | more)


def _json(response: HttpResponse) -> dict[str, Any]:
    import orjson

    return dict(orjson.loads(response.content))


def _clean(text: str) -> str:
    return "".join(c for c in text if c.isprintable())[:60].strip()
