"""Restrictions of a session whose provider is removed during the sign-in."""

from __future__ import annotations

import pytest
from allauth.account.internal.flows.login import record_authentication
from django.contrib.sessions.backends.db import SessionStore
from django.test import RequestFactory

from portal.core.errors import NotPermitted
from tests.each import each
from workspaces.access.actors import ONLY_ORG, VOUCHED_BY
from workspaces.identity.session_policy import session_limits
from workspaces.models import Provider
from workspaces.tenancy.scope import platform_scope


@pytest.fixture
def half_way(story):
    """Return a request in which Ben has entered his password of Atlas's directory, and no more."""
    Provider.objects.create(org=story.atlas, kind="ldap", slug="corp", name="Corp")
    request = RequestFactory().get("/")
    request.session = SessionStore()
    record_authentication(request, story.ben, method="directory", provider="corp")
    return request


def test_org_directory_session_is_limited_to_its_organization(story, half_way):
    assert session_limits(half_way, story.ben) == {
        ONLY_ORG: str(story.atlas.id),
        VOUCHED_BY: str(Provider.objects.get().id),
    }


@each("meanwhile", [lambda rows: rows.delete(), lambda rows: rows.update(is_enabled=False)])
def test_session_whose_directory_was_removed_or_disabled_is_refused(story, half_way, meanwhile):
    with platform_scope("roles stay when a provider goes"):
        meanwhile(Provider.objects.filter(slug="corp"))
    with pytest.raises(NotPermitted, match="no longer available"):
        session_limits(half_way, story.ben)
