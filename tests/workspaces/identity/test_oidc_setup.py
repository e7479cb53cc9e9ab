"""Setting up an OpenID provider: validation, tests and private addresses."""

from __future__ import annotations

import pytest

from portal.core.errors import InvalidInput, NotPermitted
from tests.each import each
from tests.workspaces.trying import try_options
from workspaces.identity.provider_services import config_of, create_provider, update_provider
from workspaces.tenancy.scope import org_scope


def _given(issuer, **more):
    return {"issuer": issuer, "client_id": "muster", "client_secret": "planted-secret"} | more


def _make(story, who, issuer="https://login.example.com", **more):
    with org_scope(story.atlas.id):
        return create_provider(
            actor=story.actor(who, story.atlas),
            org=story.atlas,
            kind="oidc",
            slug="atlas-idp",
            name="Atlas ID",
            options=_given(issuer, **more),
        )


def test_oidc_provider_secret_is_encrypted_in_its_row(story):
    row = _make(story, story.ada)
    assert "planted-secret" not in str(row.config) and b"planted-secret" not in bytes(row.secrets)
    assert config_of(row).client_secret == "planted-secret" and "planted-secret" not in repr(
        config_of(row)
    )


@each(
    "issuer",
    [
        "",
        "login.example.com",
        "http://login.example.com",
        "ftp://login.example.com",
        "https://",
        "https://a b",
        "https://user:pw@login.example.com",
        "https://login.example.com:99999",
        "https://login.example.com#x",
    ],
)
def test_issuer_without_valid_https_address_is_refused(story, issuer):
    with pytest.raises(InvalidInput):
        _make(story, story.ada, issuer)


def test_private_address_option_is_for_operators_only(story, issuer):
    with pytest.raises(NotPermitted, match="Private address"):
        _make(story, story.ada, issuer.url, is_private=True)
    row = _make(story, story.dot, issuer.url, is_private=True)
    options = {"issuer": "http://127.0.0.1:6379", "client_secret": "entered again"}
    with org_scope(story.atlas.id), pytest.raises(NotPermitted):
        update_provider(actor=story.actor(story.ada), provider=row, options=options)
    with org_scope(story.atlas.id), pytest.raises(NotPermitted):
        try_options(
            actor=story.actor(story.ada),
            org=story.atlas,
            kind="oidc",
            provider=row,
            options=options,
        )
    with org_scope(story.atlas.id):
        assert (
            update_provider(actor=story.actor(story.ada), provider=row, name="Other").name
            == "Other"
        )


def test_provider_test_reports_keys_and_errors(story, issuer):
    with org_scope(story.atlas.id):
        dot = story.actor(story.dot, story.atlas)
        found = try_options(
            actor=dot, org=story.atlas, kind="oidc", options=_given(issuer.url, is_private=True)
        )
        assert found.is_ok and "1 signing key" in found.message
        wrong = try_options(
            actor=dot,
            org=story.atlas,
            kind="oidc",
            options=_given(issuer.url + "/", is_private=True),
        )
        assert not wrong.is_ok and "its issuer is" in wrong.message
        inside = try_options(
            actor=story.actor(story.ada),
            org=story.atlas,
            kind="oidc",
            options=_given("https://127.0.0.1:1"),
        )
        assert not inside.is_ok and "not on the open internet" in inside.message
