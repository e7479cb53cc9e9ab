"""Tokens: format, restrictions and revocation."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from portal.core import clock
from portal.core.errors import InvalidInput, NotFound, NotPermitted
from tests.each import each
from workspaces.access.actors import actor_of, authorize
from workspaces.access.permissions import Permission as P
from workspaces.access.permissions import all_permissions
from workspaces.credentials.token_format import (
    authenticate_token,
    digest_of,
    is_well_formed,
    new_secret,
)
from workspaces.credentials.token_presets import token_presets
from workspaces.credentials.tokens import create_token, revoke_token
from workspaces.models import AccessToken
from workspaces.organizations.services import (
    add_team_member,
    remove_member,
    remove_team_member,
)
from workspaces.tenancy.scope import org_scope, platform_scope


def test_new_secret_is_well_formed_and_unique():
    made = {new_secret() for _ in range(200)}
    assert len(made) == 200 and all(map(is_well_formed, made)) and all(len(t) == 42 for t in made)


@given(st.integers(4, 41), st.characters(categories=["L", "N"]))
def test_token_typing_error_fails_without_query(at, letter):
    good = new_secret()
    bad = good[:at] + letter + good[at + 1 :]
    assert is_well_formed(bad) == (bad == good)


@each("raw", ["", "mst_", "x" * 42, "mst_" + "0" * 38, "é" * 42])
def test_token_malformed_is_invalid(db, raw):
    assert authenticate_token(raw) is None


def test_token_only_digest_is_stored(story):
    secret = story.token(story.ada)
    with platform_scope("test"):
        row = AccessToken.objects.get()
    assert row.digest == digest_of(secret) and secret not in str(vars(row))


def test_token_ends_by_expiry_revocation_or_owner(story):
    secret = story.token(story.ada)
    assert authenticate_token(secret).email == story.ada.email
    with clock.frozen(clock.now() + timedelta(days=91)):
        assert authenticate_token(secret) is None
    story.ada.is_active = False
    story.ada.save()
    assert authenticate_token(secret) is None
    story.ada.is_active = True
    story.ada.save()
    with org_scope(story.atlas.id):
        revoke_token(actor=story.actor(story.ada), token_id=AccessToken.objects.get().id)
    assert authenticate_token(secret) is None


def test_token_of_fallback_key_works(story, settings):
    secret = story.token(story.ada)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = (
        [settings.SECRET_KEY],
        "another key, made later",
    )
    assert authenticate_token(secret) is not None


def test_token_is_limited_by_scopes_and_owner(story):
    narrow = authenticate_token(story.token(story.ada, scopes=("jobs:read",))).enter(story.atlas)
    assert narrow.may(P.JOBS_READ, story.vision.id) and not narrow.may(
        P.JOBS_SUBMIT, story.vision.id
    )
    bens = authenticate_token(story.token(story.ben)).enter(story.atlas)
    assert not bens.may(P.QUOTAS_WRITE) and not bens.may(P.JOBS_READ, story.speech.id)
    with pytest.raises(NotFound):
        bens.enter(story.borealis)


def test_team_token_works_in_team_only(story):
    with org_scope(story.atlas.id):
        made = create_token(
            actor=story.actor(story.ada),
            org=story.atlas,
            name="v",
            scopes=["all"],
            team=story.vision,
        )
    bound = authenticate_token(made.secret).enter(story.atlas)
    assert bound.may(P.JOBS_SUBMIT, story.vision.id) and not bound.may(P.JOBS_READ, story.speech.id)
    assert bound.teams_where(P.JOBS_READ) == {story.vision.id}
    assert (
        bound.may(P.NODES_READ) and not bound.may(P.MEMBERS_WRITE) and not bound.may(P.QUOTAS_WRITE)
    )


def test_token_cannot_create_wider_token(story):
    narrow = authenticate_token(story.token(story.ada, scopes=("tokens:write", "jobs:read"))).enter(
        story.atlas
    )
    with org_scope(story.atlas.id):
        with pytest.raises(NotPermitted):
            create_token(actor=narrow, org=story.atlas, name="wide", scopes=["all"])
        assert create_token(
            actor=narrow, org=story.atlas, name="same", scopes=["jobs:read"]
        ).row.scopes == ["jobs:read"]


@each(
    ("name", "scopes", "days"),
    [
        ("", ["all"], 1),
        ("x", [], 1),
        ("x", ["jobs:fly"], 1),
        ("x", ["all"], 0),
        ("a\nb", ["all"], 1),
    ],
)
def test_create_token_invalid_fields_are_rejected(story, name, scopes, days):
    with org_scope(story.atlas.id), pytest.raises(InvalidInput):
        create_token(
            actor=story.actor(story.ada), org=story.atlas, name=name, scopes=scopes, days=days
        )


def test_removed_member_tokens_are_revoked(story):
    with org_scope(story.atlas.id):
        add = story.actor(story.ada)
        bound = create_token(
            actor=story.actor(story.ben),
            org=story.atlas,
            name="v",
            scopes=["all"],
            team=story.vision,
        ).secret
        remove_team_member(actor=add, team=story.vision, email=story.ben.email)
        assert authenticate_token(bound) is None
        add_team_member(actor=add, team=story.vision, email=story.ben.email)
    free = story.token(story.ben)
    with org_scope(story.atlas.id):
        remove_member(actor=add, org=story.atlas, email=story.ben.email)
    assert authenticate_token(free) is None


def test_revoke_token_of_other_user_requires_members_write(story):
    story.token(story.ada)
    with org_scope(story.atlas.id):
        row = AccessToken.objects.get()
        with pytest.raises(NotFound):
            revoke_token(actor=story.actor(story.ben), token_id=row.id)
    with org_scope(story.borealis.id), pytest.raises(NotFound):
        revoke_token(actor=story.actor(story.cyd), token_id=row.id)


def test_create_token_command_prints_token_only(story):
    out = StringIO()
    call_command(
        "create_token",
        story.ada.email,
        "--org",
        "atlas",
        "--team",
        "vision",
        "--scopes",
        "all",
        stdout=out,
    )
    assert is_well_formed(out.getvalue().strip()) and out.getvalue().count("\n") == 1
    for wrong in (
        ["nobody@x.example", "--org", "atlas"],
        [story.ada.email, "--org", "nowhere"],
        [story.cyd.email, "--org", "atlas"],
    ):
        with pytest.raises(CommandError):
            call_command("create_token", *wrong, "--scopes", "all", stdout=out)


def test_authorize_denied_names_permission(story):
    with pytest.raises(NotPermitted) as caught:
        authorize(actor_of(story.ben).enter(story.atlas), P.QUOTAS_WRITE)
    assert "quotas:write" in caught.value.message


def test_purpose_stands_for_its_scopes_on_the_page_and_in_the_api(story):
    ada = story.client(story.ada)
    ci = {p.name: [str(s) for s in p.scopes] for p in token_presets()}["ci"]
    page = ada.get("/atlas/tokens").content.decode()
    assert "CI pipeline" in page and "Node agent" not in page
    made = ada.post("/atlas/tokens", {"name": "nightly", "preset": "ci", "scopes": "all"}).context
    assert made["made"]["scopes"] == sorted(ci)
    own = {"name": "own", "preset": "", "scopes": ["jobs:read", "nodes:read"]}
    assert ada.post("/atlas/tokens", own).context["made"]["scopes"] == own["scopes"]
    body = {"name": "board", "scopes": ["read-only", "jobs:submit"]}
    found = (
        story.api(story.ada)
        .post("/api/v1/orgs/atlas/tokens", body, content_type="application/json")
        .json()
    )
    assert {s for s in found["scopes"] if not s.endswith(":read")} == {"jobs:submit"}
    assert "clusters:read" not in found["scopes"]
    assert {s for p in token_presets() for s in p.scopes} <= {"all", *map(str, all_permissions())}
