"""The page of quotas: tree, permissions, changes and a constant number of statements."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.dispatch.claims import claim_due
from jobs.models import Attempt
from jobs.quotas.tree import Bar, tree
from portal.core.models import Event
from portal.web.undo import undo_of
from schedulers.states import State
from tests.jobs.stage import cluster_with, submit
from workspaces.models import Membership, Quota, Team, TeamMembership, User
from workspaces.quotas.set_limits import LimitChange, set_quotas
from workspaces.tenancy.scope import org_scope, platform_scope


def _set(story, *changes):
    with org_scope(story.atlas.id):
        set_quotas(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[LimitChange(*change) for change in changes],
        )


def _tree(story, person=None, **asked):
    with org_scope(story.atlas.id):
        return tree(story.actor(person or story.ada), story.atlas, **asked)


def test_used_reserved_and_kept_amounts_add_up(story):
    cluster = cluster_with(cpus=100)
    _set(story, ("org", "", "cpu", 10), ("team", "speech", "cpu", None, 3))
    first, _second = submit(story, resources={"cpus": 2}), submit(story, resources={"cpus": 1})
    with platform_scope("test"):
        claim_due(cluster.id)
        Attempt.objects.filter(job=first).update(state=State.RUNNING)
    bar = _tree(story).top.bars["cpu"]
    assert (bar.used, bar.reserved, bar.kept, bar.left, bar.limit) == (
        2000,
        1000,
        3000,
        4000,
        10000,
    )
    assert [(name, at, wide) for name, at, wide in bar.widths] == [
        ("used", 0, 20),
        ("reserved", 20, 10),
        ("kept", 30, 30),
    ]


def test_people_are_loaded_for_the_open_team_and_shown_to_quota_admins(
    story,
):
    _set(story, ("user", "ben@atlas.example", "gpu", 2))
    assert all(not team.people for team in _tree(story).teams)
    vision = next(t for t in _tree(story, team="vision").teams if t.is_open)
    assert ("ben@atlas.example", 2) in [
        (p.note, p.bars["gpu"].limit) for p in vision.people if "gpu" in p.bars
    ]
    seen = next(t for t in _tree(story, story.ben, team="vision").teams if t.is_open)
    assert [p.note for p in seen.people] == ["ben@atlas.example"]


@pytest.mark.both_databases
def test_limits_of_many_teams_are_previewed_and_set_by_one_form(story):
    cluster_with(cpus=100)
    job, ada = submit(story, resources={"cpus": 2}), story.client(story.ada)
    form = {
        "who": ["team:vision", "team:speech"],
        "resource": ["cpu", "memory"],
        "limit": ["1", "64Gi"],
        "guaranteed": ["", "none"],
    }
    shown = ada.post("/atlas/quotas", {**form, "do": "preview"}).content.decode()
    assert f"1 pending job of Vision would have to wait for the limit: #{job.number}" in shown
    assert "nothing has been saved yet" in shown
    with platform_scope("test"):
        assert not Quota.objects.exclude(limit=None).exists()
    assert ada.post("/atlas/quotas", {**form, "do": "set"}).status_code == 302
    with platform_scope("test"):
        assert set(Quota.objects.exclude(limit=None).values_list("resource", "limit")) == {
            ("cpu", 1000),
            ("memory", 64 << 30),
        }
    changes = ada.get("/atlas/quotas").context["history"]
    assert [line["after"] for change in changes for line in change["lines"]] == [
        "1",
        "1",
        "64 GiB",
        "64 GiB",
    ]


def test_form_without_subject_or_change_is_refused(story):
    ada = story.client(story.ada)
    for form, word in (
        ({"resource": "gpu", "limit": "1"}, "choose at least one team"),
        ({"who": "team:vision"}, "change a limit or a guarantee"),
        ({"who": "team:vision", "resource": "gpu", "limit": "many"}, "a number"),
    ):
        assert word in ada.post("/atlas/quotas", form, follow=True).content.decode()


def test_one_limit_is_set_in_place_and_undone(story):
    ada = story.client(story.ada)
    _set(story, ("team", "vision", "gpu", 2))
    form = {"who": "team:vision", "resource": "gpu", "limit": "8", "do": "set"}
    shown = ada.post("/atlas/quotas", form, follow=True)
    message = next(iter(shown.context["messages"]))
    assert str(message) == "Limit updated: vision, GPUs: 2 → 8."
    undo = undo_of(message)
    assert _limit(story, "gpu") == 8
    ada.post(undo.url, undo.fields)
    assert _limit(story, "gpu") == 2
    with platform_scope("test"):
        assert Event.objects.filter(kind="quota.changed").count() == 3


def _limit(story, resource):
    with org_scope(story.atlas.id):
        return Quota.objects.get(scope="team", resource=resource).limit


def test_subject_page_shows_only_its_own_changes_and_only_to_the_right_people(story):
    _set(story, ("team", "vision", "gpu", 2), ("user", "ben@atlas.example", "gpu", 1))
    ada, ben = story.client(story.ada), story.client(story.ben)
    shown = ada.get("/atlas/quotas/team/vision")
    assert [line["whose"] for line in shown.context["history"][0]["lines"]] == ["Vision"]
    assert ben.get("/atlas/quotas/team/vision").context["history"] == []
    assert ben.get("/atlas/quotas/user/ben@atlas.example").status_code == 200
    for path in ("user/ada@atlas.example", "team/none", "team/harbor", "pool/main"):
        assert ben.get(f"/atlas/quotas/{path}").status_code == 404, path


def test_saving_a_subject_records_only_what_changes(story):
    _set(story, ("team", "vision", "gpu", 2))
    form = {
        "who": "team:vision",
        "resource": ["gpu", "cpu"],
        "limit": ["2", "10"],
        "guaranteed": ["", ""],
        "do": "set",
    }
    story.client(story.ada).post("/atlas/quotas", form)
    with platform_scope("test"):
        last = Event.objects.filter(kind="quota.changed").order_by("-position").first()
        assert list(last.data["after"]) == ["cpu of team vision"]
    story.client(story.ada).post("/atlas/quotas", form | {"limit": ["", "10"], "empty": "none"})
    with platform_scope("test"):
        last = Event.objects.filter(kind="quota.changed").order_by("-position").first()
        assert last.data["after"] == {"gpu of team vision": {"limit": None, "guaranteed": 0}}


def test_quota_form_accepts_byte_sizes_and_suggests_them_nowhere_else(story):
    ada = story.client(story.ada)
    for text in ("64Gi", "64GiB", "64gib", "64 Gi", "64G", str(64 << 30)):
        form = {"who": "org:", "resource": "memory", "limit": text, "do": "preview"}
        assert "at most 64 GiB" in ada.post("/atlas/quotas", form, follow=True).content.decode(), (
            text
        )
    refused = ada.post(
        "/atlas/quotas", {"who": "org:", "resource": "cpu", "limit": "64Gi"}, follow=True
    ).content.decode()
    assert "isn&#x27;t a number. Enter one such as 32, or none." in refused


def test_member_sees_the_tree_without_form_and_history(story):
    _set(story, ("team", "vision", "gpu", 2))
    shown = story.client(story.ben).get("/atlas/quotas?team=vision").content.decode()
    assert (
        "Vision" in shown
        and "data-limit" not in shown
        and "Edit limits" not in shown
        and "History" not in shown
        and "ada@atlas.example" not in shown
    )


@pytest.mark.parametrize(
    ("language", "of_team", "of_all"),
    [
        ("en", "GPUs · Vision", "GPU-hours a month · Organization"),
        ("ko", "GPU · Vision", "월간 GPU 시간 · 조직"),
    ],
)
def test_history_names_changes_in_the_readers_language(story, language, of_team, of_all):
    _set(story, ("team", "vision", "gpu", 2), ("org", "", "gpu-hours", 8))
    shown = (
        story.client(story.ada)
        .get("/atlas/quotas", headers={"Accept-Language": language})
        .content.decode()
    )
    assert of_team in shown and of_all in shown and "gpu of team" not in shown


def test_page_without_limits_gives_advice(story):
    assert "No limits yet" in story.client(story.ada).get("/atlas/quotas").content.decode()
    assert "You can use everything" in story.client(story.ben).get("/atlas/quotas").content.decode()


def test_only_limited_resources_are_shown_and_have_a_bar(story):
    _set(story, ("team", "vision", "gpu", 2))
    ada = story.client(story.ada)
    assert [name for name, _title in ada.get("/atlas/quotas").context["heads"]] == ["gpu"]
    assert len(ada.get("/atlas/quotas?all=1").context["heads"]) == 6
    assert Bar("gpu", used=4).widths == []
    assert Bar("gpu", used=4, limit=8).widths == [("used", 0, 50)]
    assert Bar("gpu", used=6, limit=4).is_over
    assert Bar("gpu", guaranteed=2, limit=8).mark == 25


@pytest.mark.integration
def test_two_hundred_teams_and_two_thousand_people_take_no_more_statements(story):
    users = User.objects.bulk_create(
        User(email=f"u{n}@atlas.example", name=f"U {n}") for n in range(2000)
    )
    with platform_scope("test"):
        teams = Team.objects.bulk_create(
            Team(org=story.atlas, slug=f"team-{n}", name=f"Team {n}") for n in range(200)
        )
        Membership.objects.bulk_create(
            Membership(org=story.atlas, user=u, role="member") for u in users
        )
        TeamMembership.objects.bulk_create(
            TeamMembership(org=story.atlas, team=teams[n % 200], user=u, role="member")
            for n, u in enumerate(users)
        )
        Quota.objects.bulk_create(
            Quota(
                org=story.atlas,
                scope=scope,
                subject_id=row.id,
                resource=resource,
                limit=8,
                used=n % 8,
            )
            for scope, rows in (("team", teams), ("user", users))
            for n, row in enumerate(rows)
            for resource in ("gpu", "gpu.h100", "cpu", "memory", "jobs")
        )
    ada = story.client(story.ada)
    ada.get("/atlas/quotas")
    with CaptureQueriesContext(connection) as queries:
        shown = ada.get("/atlas/quotas?team=team-7")
    assert (
        shown.content.count(b"u7@atlas.example") >= 1 and b"u8@atlas.example" not in shown.content
    )
    assert len(queries) < 30


def test_a_stale_page_does_not_overwrite_a_limit_of_somebody_else(story):
    ada = story.client(story.ada)
    _set(story, ("team", "vision", "gpu", 2))
    form = {"who": "team:vision", "resource": "gpu", "limit": "8", "was": "2", "do": "set"}
    undo = undo_of(next(iter(ada.post("/atlas/quotas", form, follow=True).context["messages"])))
    _set(story, ("team", "vision", "gpu", 4))
    for stale in (undo.fields, form | {"limit": "16"}, form | {"limit": "16", "was": "none"}):
        shown = ada.post("/atlas/quotas", stale, follow=True).context["messages"]
        assert "is 4 by now" in str(next(iter(shown)))
        assert _limit(story, "gpu") == 4
    many = {"who": ["team:vision", "team:speech"], "resource": "gpu", "limit": "9"}
    [seen] = [
        value
        for name, value in ada.post("/atlas/quotas", many | {"do": "preview"}).context["given"]
        if name == "seen"
    ]
    assert seen == "4 none"
    _set(story, ("team", "vision", "gpu", 5))
    shown = ada.post("/atlas/quotas", many | {"do": "set", "seen": seen}, follow=True)
    assert "is 5 by now" in str(next(iter(shown.context["messages"])))
    page = ada.get("/atlas/quotas/team/vision").content.decode()
    assert 'name="was" value="5"' in page and 'name="was" value="none"' in page
    api, line = story.api(story.ada), {"scope": "team", "subject": "vision", "resource": "gpu"}
    for was, status in ((4, 409), (None, 409), (5, 200)):
        change = line | {"limit": 6, "was": was}
        url, json = "/api/v1/orgs/atlas/quotas", "application/json"
        assert api.put(url, change, content_type=json).status_code == status
    many = {"changes": [line | {"limit": 7, "was": 5}]}
    assert api.patch(url, many, content_type=json).status_code == 409
    assert _limit(story, "gpu") == 6


@pytest.mark.parametrize("who", ["user:ada@atlas.example", "user:nosuch@atlas.example"])
def test_a_member_learns_nothing_about_limits_of_others(story, who):
    _set(story, ("user", "ada@atlas.example", "gpu", 2))
    answers = set()
    for limit in ("2", "3"):
        form = {"who": who, "resource": "gpu", "limit": limit, "do": "set"}
        shown = story.client(story.ben).post("/atlas/quotas", form, follow=True)
        answers |= {str(message) for message in shown.context["messages"]}
    assert len(answers) == 1
    assert "quotas:write" in answers.pop()
