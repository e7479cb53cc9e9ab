"""What neither a stranger nor a cache that is away may make the portal forget: limits on guessing, codes of `muster login`, and SAML
assertions that were used. In the database, by Django's DatabaseCache, and never removed before its time."""

from __future__ import annotations

from allauth.core.internal import ratelimit
from allauth.idp.oidc.internal.oauthlib import device_codes
from django.core.cache import caches
from django.utils.connection import ConnectionProxy

from portal.core import clock
from workspaces.models import DurableEntry

durable = ConnectionProxy(caches, "durable")


def use_for_allauth() -> None:
    """allauth takes Django's default cache and has no setting for another one."""
    ratelimit.cache = device_codes.cache = durable


def forget_expired() -> None:
    DurableEntry.objects.filter(expires__lt=clock.now()).delete()
