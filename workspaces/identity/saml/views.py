"""Complete sign-in by SAML.

The identity provider's site posts the response, so the session cookie is missing. `acs` stores the
response briefly, and `finish` reads it in the next request, which has the cookie.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from allauth.socialaccount.helpers import complete_social_login
from allauth.socialaccount.sessions import LoginSession
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt

from portal.core import rate_windows
from portal.core.errors import InvalidInput, NotFound, RateLimited
from portal.core.events import caller
from portal.core.messages import Message
from workspaces.identity.allauth_compat import statekit
from workspaces.identity.error_messages import NOT_BEGUN
from workspaces.identity.provider_services import config_of
from workspaces.identity.saml.provider_type import SAML
from workspaces.identity.views import refused, with_provider
from workspaces.models import Provider
from workspaces.tenancy.scope import platform_scope

_COOKIE = "saml-acs-session"
# Responses per address and minute: each is stored briefly, whoever sent it, and many people may
# share an address.
_A_MINUTE = 120

_saml = partial(with_provider, kinds=[Provider.Kind.SAML])


@csrf_exempt
@_saml
def acs(request: HttpRequest, row: Provider) -> HttpResponse:
    """Accept a response, posted from the identity provider's site."""
    from workspaces.identity.saml.protocol import LARGEST

    given = request.POST.get("SAMLResponse", "")
    if request.method != "POST" or not given or len(given) > LARGEST:
        raise InvalidInput(
            Message(
                "This address only accepts responses from identity providers. Start at the sign-in "
                "page."
            )
        )
    if rate_windows.take(f"acs:{caller.get().address}", _A_MINUTE)[0] > _A_MINUTE:
        raise RateLimited(Message("Too many responses from this address. Try again in a minute."))
    answer = redirect("account_saml_finish", slug=row.slug)
    kept = LoginSession(request, "saml_acs_session", _COOKIE)
    kept.store.set_expiry(300)
    kept.store["response"] = given
    kept.save(answer)
    return answer


@_saml
def finish(request: HttpRequest, row: Provider) -> HttpResponse:
    """Finish the sign-in, in the browser that started it."""
    from workspaces.identity.saml.protocol import SamlProvider, saml_app, verify_response

    kept = LoginSession(request, "saml_acs_session", _COOKIE)
    given = kept.store.get("response", "")
    kept.delete()
    if not given or not any(
        stashed[-1] == row.slug for stashed in statekit.get_states(request).values()
    ):
        return refused(request, row.slug, NOT_BEGUN, is_theirs=False)
    config = config_of(row)
    auth, requested = verify_response(row.slug, config, given)
    state = statekit.unstash_state(request, provider_id=row.slug, state_id=requested)
    if state is None:
        return refused(request, row.slug, NOT_BEGUN, is_theirs=False)
    provider = SamlProvider(request, app=saml_app(row.slug, row.name, config))
    login = provider.sociallogin_from_response(request, _SamlAnswer(auth))
    login.state = state
    return complete_social_login(request, login)  # type: ignore[no-any-return]


def metadata(request: HttpRequest, slug: str) -> HttpResponse:
    """Return our metadata for the identity provider, even before the provider is fully set up."""
    with platform_scope("sign-in looks up a provider by slug"):
        is_known = Provider.objects.filter(slug=slug, kind=Provider.Kind.SAML).exists()
    if SAML.missing() or not is_known:
        raise NotFound(Message("This sign-in method doesn't exist."))
    from workspaces.identity.saml.protocol import sp_metadata

    return HttpResponse(sp_metadata(slug), content_type="application/samlmetadata+xml")


class _SamlAnswer:
    """The parts of a response that allauth reads, in the form of `SocialAccount.extra_data`."""

    def __init__(self, auth: Any):
        self._auth = auth

    def get_attributes(self) -> dict[str, Any]:
        from workspaces.identity.saml.protocol import attributes_of

        return {
            "attributes": attributes_of(self._auth),
            "nameid": self._auth.get_nameid(),
            "format": self._auth.get_nameid_format(),
        }

    def get_nameid(self) -> str:
        return str(self._auth.get_nameid() or "-")[:191]

    def get_nameid_format(self) -> str:
        return ""
