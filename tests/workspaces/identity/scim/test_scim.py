"""Users and groups by SCIM: the protocol, and the resulting accounts and roles."""

from __future__ import annotations

import orjson
import pytest
from django.test import Client

from portal.core.errors import NotPermitted
from portal.core.models import Event
from tests.cases import read_case
from tests.each import each
from tests.workspaces.identity.conftest import rule
from tests.workspaces.identity.scim.conftest import Scim
from workspaces.identity.scim import store
from workspaces.identity.scim.tokens import create_scim_token, revoke_scim_token
from workspaces.models import (
    Identity,
    Membership,
    Provider,
    ScimRecord,
    ScimToken,
    TeamMembership,
    User,
)
from workspaces.tenancy.scope import org_scope, platform_scope


def _standing(email="eve@atlas.example"):
    with platform_scope("test"):
        return (
            [
                (m.role, m.suspended_at is None)
                for m in Membership.objects.filter(user__email=email)
            ],
            [
                t.team.slug
                for t in TeamMembership.objects.filter(user__email=email).select_related("team")
            ],
        )


def test_scim_user_gets_account_when_a_group_grants_a_role(scim):
    eve = scim.user()
    assert not User.objects.filter(email="eve@atlas.example").exists()
    scim.group("people", eve)
    assert _standing() == ([("member", True)], []) and Identity.objects.get().subject == "x-eve"
    assert Identity.objects.get().email == "eve@atlas.example"
    assert not User.objects.get(email="eve@atlas.example").has_usable_password()


def test_scim_group_membership_grants_and_removes_roles(scim):
    eve = scim.user()
    scim.group("people", eve)
    vision = scim.group("vision")
    patch = {"Operations": [{"op": "add", "path": "members", "value": [{"value": eve["id"]}]}]}
    assert scim("PATCH", f"/Groups/{vision['id']}", patch).status_code == 200
    assert _standing()[1] == ["vision"]
    assert [g["display"] for g in scim("GET", f"/Users/{eve['id']}").json()["groups"]] == [
        "people",
        "vision",
    ]
    scim(
        "PATCH",
        f"/Groups/{vision['id']}",
        {"Operations": [{"op": "remove", "path": f'members[value eq "{eve["id"]}"]'}]},
    )
    assert _standing()[1] == []


@each("how", ["Azure", "Okta", "put", "delete"])
def test_deactivated_scim_user_is_suspended_and_restored(story, scim, how):
    eve = scim.user()
    scim.group("people", eve)
    body = {
        "Azure": {"Operations": [{"op": "Replace", "path": "active", "value": "False"}]},
        "Okta": {"Operations": [{"op": "replace", "value": {"active": False}}]},
    }.get(how)
    if how == "delete":
        assert (
            scim("DELETE", f"/Users/{eve['id']}").status_code == 204
            and scim("GET", f"/Users/{eve['id']}").status_code == 404
        )
    elif how == "put":
        scim("PUT", f"/Users/{eve['id']}", eve | {"active": False})
    else:
        assert scim("PATCH", f"/Users/{eve['id']}", body).status_code == 200
    assert _standing() == ([("member", False)], []) and Identity.objects.get().gone_since
    if how == "delete":
        again = scim.user()
        scim(
            "PATCH",
            f"/Groups/{scim('GET', '/Groups').json()['Resources'][0]['id']}",
            {"Operations": [{"op": "add", "path": "members", "value": [{"value": again["id"]}]}]},
        )
    else:
        scim(
            "PATCH",
            f"/Users/{eve['id']}",
            {"Operations": [{"op": "Replace", "path": "active", "value": "True"}]},
        )
    assert _standing() == ([("member", True)], []) and Identity.objects.get().gone_since is None
    assert User.objects.filter(email="eve@atlas.example").count() == 1


def test_scim_user_with_existing_address_is_not_linked(story, scim):
    ada = scim.user("ada", emails=[{"value": story.ada.email}])
    scim.group("people", ada)
    assert not Identity.objects.exists() and _standing(story.ada.email)[0] == [("owner", True)]


def test_scim_user_with_apostrophe_becomes_a_member(scim, provider):
    Provider.objects.filter(id=provider.id).update(domains=["corp.example"])
    rule(provider, "*", provider.org)
    answer = scim("POST", "/Users", orjson.loads(read_case("scim-apostrophe.json")))
    assert answer.status_code == 201
    assert _standing("o'neil@corp.example") == ([("member", True)], [])
    quoted = 'emails[type eq "work"].value eq "o\'neil@corp.example"'
    assert scim("GET", f"/Users?filter={quoted}").json()["totalResults"] == 1


def test_scim_user_without_usable_address_is_in_the_audit_trail(scim, provider):
    rule(provider, "*", provider.org)
    scim.user(userName="eve", emails=[{"value": "eve at atlas"}])
    why = Event.objects.get(kind="person.left_out").data["why"]
    assert "'eve at atlas'" in why and not Identity.objects.exists()


def test_scim_members_that_are_not_understood_remove_nobody(scim):
    group = scim.group("people", scim.user())
    for verb, members in (
        ("replace", [{"display": "Eve"}]),
        ("replace", [{"value": None}]),
        ("replace", None),
        ("replace", [7]),
        ("remove", {"display": "Eve"}),
    ):
        body = {"Operations": [{"op": verb, "path": "members", "value": members}]}
        assert scim("PATCH", f"/Groups/{group['id']}", body).status_code == 400, members
    body = {"Operations": [{"op": "remove", "path": "members", "value": []}]}
    assert scim("PATCH", f"/Groups/{group['id']}", body).status_code == 200
    assert _standing() == ([("member", True)], [])


def test_scim_data_and_tokens_are_separate_for_each_provider(story, scim):
    other = Provider.objects.create(
        kind="scim", org=story.borealis, slug="borealis-scim", name="Borealis"
    )
    rule(other, "people", story.borealis)
    eve = scim.user()
    with org_scope(story.borealis.id):
        token = create_scim_token(actor=story.actor(story.cyd), provider=other)
    theirs = Scim("borealis-scim", token)
    assert (
        theirs("GET", f"/Users/{eve['id']}").status_code == 404
        and theirs("GET", "/Users").json()["totalResults"] == 0
    )
    assert Scim("atlas-scim", token)("GET", "/Users").status_code == 401
    theirs.group("people", eve)
    assert not User.objects.filter(email="eve@atlas.example").exists()


@each("token", ["", "x", "mst_" + "0" * 38])
def test_scim_without_valid_token_is_unauthorized(scim, token):
    answer = Scim("atlas-scim", token)("GET", "/ServiceProviderConfig")
    assert answer.status_code == 401 and answer.json()["status"] == "401"
    assert Client().get("/scim/v2/atlas-scim/Users").status_code == 401


def test_scim_with_personal_access_token_is_unauthorized(story, scim):
    assert Scim("atlas-scim", story.token(story.ada))("GET", "/Users").status_code == 401


def test_new_scim_token_revokes_previous_and_requires_owner(story, provider, scim):
    with org_scope(story.atlas.id):
        with pytest.raises(NotPermitted):
            create_scim_token(actor=story.actor(story.ben), provider=provider)
        fresh = create_scim_token(actor=story.actor(story.ada), provider=provider)
        assert (
            scim("GET", "/Users").status_code == 401
            and Scim("atlas-scim", fresh)("GET", "/Users").status_code == 200
        )
        assert fresh not in str(ScimToken.objects.values().get())
        revoke_scim_token(actor=story.actor(story.ada), provider=provider)
    assert Scim("atlas-scim", fresh)("GET", "/Users").status_code == 401


def test_scim_of_disabled_provider_is_unauthorized(provider, scim):
    provider.is_enabled = False
    provider.save()
    assert scim("GET", "/Users").status_code == 401


def test_scim_user_name_is_unique_regardless_of_case(scim):
    scim.user()
    answer = scim("POST", "/Users", {"userName": "EVE@atlas.example"})
    assert answer.status_code == 409 and answer.json()["scimType"] == "uniqueness"


def test_scim_versions_are_returned_and_checked(scim):
    eve = scim.user()
    path, tag = f"/Users/{eve['id']}", eve["meta"]["version"]
    assert scim("GET", path, **{"If-None-Match": tag}).status_code == 304
    assert (
        scim(
            "PATCH",
            path,
            {"Operations": [{"op": "replace", "path": "displayName", "value": "E"}]},
            **{"If-Match": tag},
        ).status_code
        == 200
    )
    stale = scim(
        "PATCH",
        path,
        {"Operations": [{"op": "replace", "path": "displayName", "value": "F"}]},
        **{"If-Match": tag},
    )
    assert stale.status_code == 412 and scim("GET", path).headers["ETag"] == 'W/"2"'
    assert (
        scim(
            "PATCH", path, {"Operations": [{"op": "replace", "path": "displayName", "value": "E"}]}
        ).headers["ETag"]
        == 'W/"2"'
    )


def _first(monkeypatch, act):
    """Run `act` just before the next write; both are rolled back if that write fails."""
    waits, acts = store.lock_provider, [act]

    def lock_provider(provider):
        while acts:
            acts.pop()()
        waits(provider)

    monkeypatch.setattr(store, "lock_provider", lock_provider)


@pytest.mark.both_databases
def test_concurrent_scim_changes_are_both_kept(scim, monkeypatch):
    path = f"/Users/{scim.user()['id']}"
    rename = {"Operations": [{"op": "replace", "path": "name.familyName", "value": "Second"}]}
    _first(
        monkeypatch,
        lambda: scim(
            "PATCH", path, {"Operations": [{"op": "replace", "path": "active", "value": False}]}
        ),
    )
    assert scim("PATCH", path, rename).status_code == 200
    found = scim("GET", path).json()
    assert (found["active"], found["name"]["familyName"], found["meta"]["version"]) == (
        False,
        "Second",
        'W/"3"',
    )


@each("verb", ["PATCH", "PUT", "DELETE"])
def test_scim_version_is_checked_at_the_time_of_the_write(scim, monkeypatch, verb):
    eve = scim.user()
    path, change = (
        f"/Users/{eve['id']}",
        {"Operations": [{"op": "replace", "path": "displayName", "value": "E"}]},
    )
    _first(monkeypatch, lambda: scim("PATCH", path, change))
    mine = (
        {"Operations": [{"op": "replace", "path": "displayName", "value": "F"}]}
        if verb == "PATCH"
        else eve | {"displayName": "F"}
    )
    assert scim(verb, path, mine, **{"If-Match": eve["meta"]["version"]}).status_code == 412


def test_scim_update_of_concurrently_deleted_user_is_not_found(scim, monkeypatch):
    eve = scim.user()
    scim.group("people", eve)
    _first(monkeypatch, lambda: scim("DELETE", f"/Users/{eve['id']}"))
    assert scim("PUT", f"/Users/{eve['id']}", eve | {"displayName": "E"}).status_code == 404


@each(
    ("text", "found"),
    [
        ('userName eq "EVE@atlas.example"', ["eve"]),
        ('externalId eq "x-fay"', ["fay"]),
        ('emails[type eq "work" and value co "fay"]', ["fay"]),
        ('emails.value sw "eve"', ["eve"]),
        ('emails.value eq "FAY@atlas.example"', ["fay"]),
        ('emails[type eq "work"].value eq "fay@atlas.example"', ["fay"]),
        ('emails[type eq "home"].value eq "fay@atlas.example"', []),
        ('emails[type eq "work"].value ne "fay@atlas.example"', ["eve"]),
        ('emails[primary eq true].value pr and not (emails[type eq "work"].value sw "f")', ["eve"]),
        ('not (userName sw "eve")', ["fay"]),
        ('active eq true and (displayName eq "Eve" or displayName eq "Fay")', ["eve", "fay"]),
        ("emails pr", ["eve", "fay"]),
        ("title pr", []),
        ('urn:ietf:params:scim:schemas:core:2.0:User:userName eq "eve@atlas.example"', ["eve"]),
        ('meta.created gt "2000-01-01T00:00:00Z"', ["eve", "fay"]),
        ('userName ne "eve@atlas.example"', ["fay"]),
        ('active eq "True"', []),
    ],
)
def test_scim_filter_returns_matching_users(scim, text, found):
    scim.user()
    scim.user("fay")
    answer = scim("GET", f"/Users?filter={text}").json()
    assert [r["userName"].partition("@")[0] for r in answer["Resources"]] == found and answer[
        "totalResults"
    ] == len(found)


@each(
    "text",
    [
        "userName",
        "userName xx 1",
        "userName eq",
        "(userName pr",
        "a[b pr",
        "userName eq {}",
        "(" * 50 + "a pr" + ")" * 50,
        'userName eq "x" and',
        "userName eq x'--",
        "a" * 3000,
        '"',
    ],
)
def test_invalid_scim_filter_returns_protocol_error(scim, text):
    answer = scim("GET", f"/Users?filter={text}")
    assert answer.status_code == 400 and answer.json()["scimType"] == "invalidFilter"


def test_scim_list_supports_pages_sorting_and_attributes(scim):
    for name in ("eve", "fay", "gus"):
        scim.user(name)
    page = scim("GET", "/Users?startIndex=2&count=1&attributes=userName").json()
    assert (page["totalResults"], page["startIndex"], page["itemsPerPage"]) == (3, 2, 1)
    assert set(page["Resources"][0]) == {"id", "schemas", "userName"} and page["Resources"][0][
        "userName"
    ].startswith("fay")
    parts = scim("GET", "/Users?attributes=emails.value&excludedAttributes=emails.type").json()[
        "Resources"
    ][0]
    assert parts["emails"] == [{"value": "eve@atlas.example"}]
    down = scim(
        "GET", "/Users?sortBy=displayName&sortOrder=descending&excludedAttributes=emails"
    ).json()["Resources"]
    assert [u["displayName"] for u in down] == ["Gus", "Fay", "Eve"] and "emails" not in down[0]


def test_scim_search_by_post_returns_matching_users(scim):
    scim.user()
    scim.user("fay")
    found = scim(
        "POST",
        "/Users/.search",
        {
            "filter": 'displayName eq "Fay"',
            "attributes": ["userName"],
            "startIndex": 1,
            "count": 10,
        },
    ).json()
    assert [set(r) for r in found["Resources"]] == [{"id", "schemas", "userName"}] and found[
        "totalResults"
    ] == 1
    assert scim("POST", "/Groups/.search", {}).json()["totalResults"] == 0


@each(
    ("verb", "path", "body", "status"),
    [
        ("POST", "/.search", {}, 501),
        ("POST", "/Users/.search", [], 400),
        ("POST", "/Users/.search", {"filter": "("}, 400),
        ("GET", "/Users/.search", None, 405),
        ("POST", "/Users/.search", {"count": "many"}, 400),
        ("POST", "/Users", {}, 400),
        ("POST", "/Users", [], 400),
        ("POST", "/Users", {"userName": 7}, 400),
        ("POST", "/Users", {"userName": "a\x00b"}, 400),
        ("POST", "/Users", {"userName": "x" * 300}, 400),
        ("POST", "/Users", {"userName": "x", "active": "perhaps"}, 400),
        ("GET", "/Users/7", None, 404),
        ("GET", "/Users?count=many", None, 400),
        ("GET", "/Me", None, 501),
        ("POST", "/Bulk", {}, 501),
        ("GET", "/Nothing", None, 404),
        ("DELETE", "/Schemas", None, 405),
        ("PATCH", "/Users", {}, 405),
    ],
)
def test_invalid_scim_request_returns_protocol_error(scim, verb, path, body, status):
    answer = scim(verb, path, body)
    assert answer.status_code == status and answer.json()["schemas"] == [
        "urn:ietf:params:scim:api:messages:2.0:Error"
    ]


def test_scim_user_outside_provider_domains_gets_no_account(scim, provider):
    Provider.objects.filter(id=provider.id).update(domains=["atlas.example"])
    scim.group(
        "people", scim.user(), scim.user("boss", emails=[{"value": "boss@borealis.example"}])
    )
    assert (
        User.objects.filter(email="eve@atlas.example").exists()
        and not User.objects.filter(email="boss@borealis.example").exists()
    )


def test_scim_group_shows_only_names_of_its_providers_users(story, scim):
    other = Provider.objects.create(
        kind="scim", org=story.borealis, slug="borealis-scim", name="Borealis"
    )
    theirs = ScimRecord.objects.create(
        provider=other, kind="User", name="secret", data={"userName": "secret"}, subject="s"
    )
    ScimRecord.objects.bulk_create(
        [
            ScimRecord(
                provider=Provider.objects.get(slug="atlas-scim"),
                kind="User",
                name=f"u{n}",
                subject=f"u{n}",
                data={"userName": f"u{n}"},
            )
            for n in range(1001)
        ]
    )
    mine = [
        {"id": str(pk)}
        for pk in ScimRecord.objects.exclude(provider=other).values_list("id", flat=True)
    ]
    made = scim.group("crowd", {"id": str(theirs.id)}, *mine)
    shown = {m["value"]: m.get("display") for m in made["members"]}
    assert shown.pop(str(theirs.id)) is None and len(shown) == 1001 and all(shown.values())


@each(
    "text",
    [
        r'userName eq "\q"',
        r'userName eq "\ud800"',
        r'userName eq "\u0000"',
        r'displayName co "\u0000"',
    ],
)
def test_scim_filter_with_invalid_string_is_refused(scim, text):
    scim.user()
    answer = scim("POST", "/Users/.search", {"filter": text})
    assert answer.status_code == 400 and answer.json()["scimType"] == "invalidFilter"


@each(
    ("asked", "total"),
    [
        ({"filter": f'id eq "{"-" * 36}"'}, 0),
        ({"filter": "meta gt null"}, 0),
        ({"filter": "active gt true"}, 0),
        ({"startIndex": "99999999999999999999"}, 1),
        ({"startIndex": "99999999999999999999", "sortBy": "userName"}, 1),
    ],
)
def test_scim_search_that_cannot_match_returns_no_users(scim, asked, total):
    scim.user()
    answer = scim("POST", "/Users/.search", asked)
    assert answer.status_code == 200 and (
        answer.json()["totalResults"],
        answer.json()["Resources"],
    ) == (total, [])
