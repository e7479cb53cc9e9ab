"""The only module that imports what allauth declares internal or private.

requirements/base.in therefore limits allauth to one minor version; check these names before raising
it. Everything else in the portal uses allauth's public modules, which ruff enforces (pyproject.toml).
"""

from __future__ import annotations

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from allauth.account.internal.flows.login import record_authentication
from allauth.account.internal.flows.reauthentication import (
    did_recently_reauthenticate,
    get_reauthentication_flows,
)
from allauth.core.internal import ratelimit
from allauth.core.internal.httpkit import add_query_params
from allauth.idp.oidc.internal.oauthlib import device_codes
from allauth.idp.oidc.internal.private_keys import filter_keys
from allauth.socialaccount.internal import statekit

__all__ = [
    "add_query_params",
    "device_codes",
    "did_recently_reauthenticate",
    "filter_keys",
    "get_reauthentication_flows",
    "ratelimit",
    "record_authentication",
    "show_deactivated",
    "statekit",
    "use_cache",
]


def use_cache(cache: Any) -> None:
    """Replace the cache of rate limits and device codes, for which allauth has no setting."""
    ratelimit.cache = device_codes.cache = cache


def show_deactivated(user: Any) -> None:
    """Let allauth show its page for deactivated accounts after the sign-in was denied."""
    AuthenticationBackend._stash_user(user)  # noqa: SLF001
