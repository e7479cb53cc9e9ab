"""Secrets: permissions, references, error messages, and values that never leak."""

from __future__ import annotations

from uuid import uuid4

import pytest

from portal.core import vault
from portal.core.errors import InvalidInput, NotFound, NotPermitted
from portal.core.models import Event
from tests.each import each
from workspaces.credentials.secret_selectors import secrets_for, writable
from workspaces.credentials.secrets import (
    MAX_BYTES,
    MAX_VERSIONS,
    SecretReferences,
    check_references,
    delete_secret,
    delete_version,
    open_secrets,
    set_secret,
)
from workspaces.models import Secret, SecretVersion, Team
from workspaces.models.secrets import PURPOSE
from workspaces.organizations.services import add_member, create_team
from workspaces.tenancy.scope import org_scope, platform_scope

VALUE = "c4nary-Zx81-value"


@pytest.fixture
def atlas(story):
    with org_scope(story.atlas.id):
        yield story


def put(story, value=VALUE, person=None, team="vision", name="wandb"):
    where = None if team is None else getattr(story, team)
    return set_secret(
        actor=story.actor(person or story.ada), org=story.atlas, team=where, name=name, value=value
    )


def opened(story, reference, team=None):
    team = team or story.vision
    [got] = open_secrets(
        [
            SecretReferences(
                team.org_id, team.id, team.slug, {"KEY": reference}, uuid4(), {"number": 7}
            )
        ]
    )
    return got


@each(
    ("reference", "value"),
    [
        ("team/wandb", "third"),
        ("vision/wandb", "third"),
        ("team/wandb@1", "first"),
        ("vision/wandb@2", "second"),
        ("org/wandb", "shared"),
    ],
)
def test_secret_reference_resolves_newest_or_named_version(atlas, reference, value):
    for version in ("first", "second", "third"):
        put(atlas, version)
    put(atlas, "shared", team=None)
    assert opened(atlas, reference).values == {"KEY": value}


@each(
    ("reference", "word"),
    [
        ("team/gone", "no secret team/gone"),
        ("vision/wandb@9", "no version 9; the newest is 1"),
        ("speech/wandb", "belongs to another team"),
        ("nowhere/wandb", "belongs to another team"),
        ("org/wandb", "no secret org/wandb"),
    ],
)
def test_secret_reference_missing_or_foreign_is_rejected(atlas, reference, word):
    put(atlas)
    put(atlas, team="speech")
    with pytest.raises(InvalidInput) as caught:
        check_references(atlas.vision, {"A": "team/wandb", "KEY": reference})
    [fault] = caught.value.data["errors"]
    assert (
        fault["field"] == "secrets.KEY"
        and word in fault["message"]
        and word in opened(atlas, reference).lacks
    )


def test_secret_reference_never_resolves_to_other_organization(atlas):
    with org_scope(atlas.borealis.id):
        set_secret(
            actor=atlas.actor(atlas.cyd),
            org=atlas.borealis,
            team=None,
            name="wandb",
            value="theirs",
        )
    with platform_scope("as the dispatcher"):
        assert (
            opened(atlas, "org/wandb").values == {}
            and "no secret" in opened(atlas, "org/wandb").lacks
        )


def test_secret_use_is_recorded_without_value(atlas):
    put(atlas)
    opened(atlas, "team/wandb")
    event = Event.objects.get(kind="secret.used")
    assert (
        event.data == {"secret": "vision/wandb", "version": 1, "number": 7}
        and event.subject_type == "job"
    )
    assert Secret.objects.get().last_used_at is not None


def test_open_secrets_missing_one_opens_none(atlas):
    put(atlas)
    use = SecretReferences(
        atlas.atlas.id, atlas.vision.id, "vision", {"A": "team/wandb", "B": "team/gone"}
    )
    [got] = open_secrets([use])
    assert got.values == {} and got.lacks and not Event.objects.filter(kind="secret.used").exists()


def test_open_secrets_without_references_takes_no_query(atlas, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert (
            open_secrets([SecretReferences(atlas.atlas.id, atlas.vision.id, "vision", {})])[
                0
            ].values
            == {}
        )


def test_open_secrets_query_count_is_constant(atlas, django_assert_num_queries):
    put(atlas)
    uses = [
        SecretReferences(atlas.atlas.id, atlas.vision.id, "vision", {"A": "team/wandb"}, uuid4())
        for _ in range(30)
    ]
    with django_assert_num_queries(4):
        assert all(got.values for got in open_secrets(uses))


@each(
    ("who", "team", "may"),
    [
        ("ada", "vision", True),
        ("ben", "vision", True),
        ("ben", "speech", False),
        ("ben", None, False),
        ("ada", None, True),
        ("vic", "vision", False),
    ],
)
def test_set_secret_permissions(atlas, who, team, may):
    person = (
        getattr(atlas, who, None)
        or add_member(
            actor=atlas.actor(atlas.ada), org=atlas.atlas, email="vic@atlas.example", role="viewer"
        ).user
    )
    if may:
        assert put(atlas, person=person, team=team).number == 1
    else:
        with pytest.raises(NotPermitted):
            put(atlas, person=person, team=team)


def test_secrets_list_own_teams_and_organization(atlas):
    for team in ("vision", "speech", None):
        put(atlas, team=team)
    seen = {
        who: {row["reference"] for row in secrets_for(atlas.actor(getattr(atlas, who)))}
        for who in ("ada", "ben")
    }
    assert seen == {
        "ada": {"vision/wandb", "speech/wandb", "org/wandb"},
        "ben": {"vision/wandb", "org/wandb"},
    }
    assert writable(atlas.actor(atlas.ben)) == ["vision"] and writable(atlas.actor(atlas.ada)) == [
        "speech",
        "vision",
        "org",
    ]
    outsider = add_member(
        actor=atlas.actor(atlas.ada), org=atlas.atlas, email="new@atlas.example"
    ).user
    assert secrets_for(atlas.actor(outsider)) == []


def test_secret_value_is_encrypted_and_not_printed(atlas):
    version = put(atlas)
    stored = bytes(SecretVersion.objects.get().sealed)
    assert VALUE.encode() not in stored and vault.decrypt(stored, PURPOSE) == VALUE.encode()
    shown = [
        repr(version),
        str(version),
        str(vars(version)),
        repr(opened(atlas, "team/wandb")),
        str(secrets_for(atlas.actor(atlas.ada))),
    ]
    assert not [
        text
        for text in [*shown, *map(str, Event.objects.values_list("data", flat=True))]
        if VALUE in text
    ]


def test_secret_versions_are_pruned_and_numbers_not_reused(atlas):
    for n in range(MAX_VERSIONS + 3):
        put(atlas, f"value {n}")
    assert list(SecretVersion.objects.order_by("number").values_list("number", flat=True)) == list(
        range(4, MAX_VERSIONS + 4)
    )
    delete_version(
        actor=atlas.actor(atlas.ada), team=atlas.vision, name="wandb", number=MAX_VERSIONS
    )
    assert "no version" in opened(atlas, f"team/wandb@{MAX_VERSIONS}").lacks
    assert put(atlas).number == MAX_VERSIONS + 4


def test_delete_newest_secret_version_is_rejected(atlas):
    put(atlas)
    with pytest.raises(InvalidInput):
        delete_version(actor=atlas.actor(atlas.ada), team=atlas.vision, name="wandb", number=1)
    with pytest.raises(NotFound):
        delete_version(actor=atlas.actor(atlas.ada), team=atlas.vision, name="wandb", number=7)


def test_delete_secret_removes_values(atlas):
    put(atlas)
    delete_secret(actor=atlas.actor(atlas.ben), team=atlas.vision, name="wandb")
    assert not SecretVersion.objects.exists() and opened(atlas, "team/wandb").lacks
    assert Event.objects.get(kind="secret.deleted").data["secret"] == "vision/wandb"


@each("value", ["", "a\0b", "x" * (MAX_BYTES + 1), "\ud800"])
def test_set_secret_invalid_value_is_rejected_unquoted(atlas, value):
    with pytest.raises(InvalidInput) as caught:
        put(atlas, value)
    assert not value or value not in str(caught.value)


@each("name", ["", "a b", "../x", "x" * 64, "-x", "é", "a@1", "a/b"])
def test_set_secret_invalid_name_is_rejected(atlas, name):
    with pytest.raises(InvalidInput):
        put(atlas, name=name)


def test_secret_of_team_named_org_is_not_the_organizations(atlas):
    team = create_team(actor=atlas.actor(atlas.ada), org=atlas.atlas, slug="older")
    Team.objects.filter(id=team.id).update(slug="org")  # new teams are refused this name
    team.refresh_from_db()
    set_secret(
        actor=atlas.actor(atlas.ada), org=atlas.atlas, team=team, name="wandb", value="the team's"
    )
    assert opened(atlas, "team/wandb", team).values == {"KEY": "the team's"}
    assert "no secret org/wandb" in opened(atlas, "org/wandb", team).lacks
