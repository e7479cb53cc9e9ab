"""The members page and its API: suspensions, pagination and search."""

from __future__ import annotations

from portal.core import clock
from workspaces.models import Membership, TeamMembership, User
from workspaces.tenancy.scope import platform_scope

API = "/api/v1/orgs/atlas/members"


def suspend(story, user):
    with platform_scope("test"):
        Membership.objects.filter(org=story.atlas, user=user).update(suspended_at=clock.now())


def test_suspended_member_is_marked_and_not_offered_to_teams(story):
    eve = User.objects.create_user("eve@atlas.example", name="Eve", is_active=False)
    with platform_scope("test"):
        Membership.objects.create(org=story.atlas, user=eve)
        TeamMembership.objects.filter(team=story.vision, user=story.ben).delete()
    suspend(story, story.ben)
    ada = story.client(story.ada)
    rows = {
        row["email"]: row["is_suspended"] for row in story.api(story.ada).get(API).json()["items"]
    }
    assert rows == {
        "ada@atlas.example": False,
        "ben@atlas.example": True,
        "eve@atlas.example": True,
    }
    page = ada.get("/atlas/people").content.decode()
    assert page.count('<span class="chip warn">Suspended</span>') == 2
    candidates = ada.get("/atlas/teams/vision").context["candidates"]
    assert {"ben@atlas.example", "eve@atlas.example"}.isdisjoint(row["email"] for row in candidates)


def test_suspended_member_sees_reason_and_contact(story):
    suspend(story, story.ben)
    page = story.client(story.ben).get("/").content.decode()
    assert "Your membership in Atlas is suspended." in page and "ada@atlas.example" in page
    assert "not in an organization yet" not in page
    assert (
        "not in an organization yet"
        in story.client(User.objects.create_user("new@atlas.example")).get("/").content.decode()
    )


def test_members_pagination_and_search(story):
    people = User.objects.bulk_create(
        User(email=f"p{n:03}@atlas.example", name=f"Person {n}") for n in range(118)
    )
    with platform_scope("test"):
        Membership.objects.bulk_create(Membership(org=story.atlas, user=user) for user in people)
    everybody = sorted(["ada@atlas.example", "ben@atlas.example", *(user.email for user in people)])
    api, found, cursor = story.api(story.ada), [], ""
    for _ in range(3):
        page = api.get(API, {"cursor": cursor} if cursor else {}).json()
        found += [row["email"] for row in page["items"]]
        cursor = page["next"]
    assert (found, cursor) == (everybody, None)
    assert [
        row["email"] for row in api.get(API, {"q": "person 99", "limit": 2}).json()["items"]
    ] == ["p099@atlas.example"]
    assert (
        api.get(API, {"name": "person 99"}).status_code
        == api.get(API, {"limit": 0}).status_code
        == 400
    )
    ada = story.client(story.ada)
    first = ada.get("/atlas/people")
    second = ada.get("/atlas/people" + first.context["list"].next_url)
    assert [
        row["email"] for row in [*first.context["list"].rows, *second.context["list"].rows]
    ] == everybody[:100]
    assert "120 people" in first.content.decode() and "is invited" not in first.content.decode()
    assert 'type="search"' in first.content.decode()
    assert [row["email"] for row in ada.get("/atlas/people?q=P07").context["list"].rows] == [
        f"p07{n}@atlas.example" for n in range(10)
    ]
    third = ada.get("/atlas/people" + second.context["list"].next_url)
    back = ada.get("/atlas/people" + third.context["list"].previous_url)
    assert [row["email"] for row in back.context["list"].rows] == everybody[50:100]


def test_members_sort_keeps_filters_and_pages(story):
    ada = story.client(story.ada)
    shown = ada.get("/atlas/people?q=atlas&sort=-created_at&columns=created_at").context["list"]
    assert [row["email"] for row in shown.rows] == ["ben@atlas.example", "ada@atlas.example"]
    assert "q=atlas" in shown.heads[0].url and shown.heads[2].direction == "descending"
    first = story.api(story.ada).get(API, {"sort": "-created_at", "limit": 1}).json()
    second = story.api(story.ada).get(
        API, {"sort": "-created_at", "limit": 1, "cursor": first["next"]}
    )
    assert [row["email"] for row in second.json()["items"]] == ["ada@atlas.example"]
    assert story.api(story.ada).get(API, {"cursor": 'n["x"'}).status_code == 200  # an address
    assert (
        story.api(story.ada).get(API, {"sort": "created_at", "cursor": "nonsense"}).status_code
        == 400
    )


def test_members_csv_escapes_formulas(story):
    user = User.objects.create_user("eve@atlas.example", name="=HYPERLINK(1)")
    with platform_scope("test"):
        Membership.objects.create(org=story.atlas, user=user)
    answer = story.client(story.ada).get("/atlas/people?format=csv&q=eve")
    assert answer["Content-Disposition"] == 'attachment; filename="members.csv"'
    lines = b"".join(answer.streaming_content).decode("utf-8-sig").split("\r\n")
    assert lines[0].startswith("email,name,teams,gpus_used,") and lines[0].endswith(
        ",created_at,role"
    )
    assert lines[1].startswith("eve@atlas.example,'=HYPERLINK(1),,") and lines[2] == ""


def test_person_joins_a_team_from_their_own_page(story):
    ada, path = story.client(story.ada), f"/atlas/people/{story.ben.email}"
    assert "Add to a team" in ada.get(path).content.decode()
    page = ada.post(path, {"do": "join", "team": "speech"}, follow=True).content.decode()
    assert f"{story.ben.email} was added to speech." in page
    assert "Add to a team" not in page  # he is in all of them
    answer = story.client(story.ben).post(path, {"do": "join", "team": "speech"}, follow=True)
    assert "was added" not in answer.content.decode()
