"""Lists of teams, people, pools, organizations and clusters with what each uses and costs."""

from __future__ import annotations

import csv
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from billing.amounts import HOUR_MS, ms_of
from billing.selectors.spending import spending
from billing.services import ledger, prices
from portal.core import clock
from tests.billing.stage import run
from workspaces.lists import MEMBERS, TEAMS
from workspaces.models import Quota, User
from workspaces.organizations.services import add_member, add_team_member, create_team
from workspaces.subjects import SubjectKind, first_day, use_of
from workspaces.tenancy.scope import org_scope, platform_scope


@pytest.fixture
def used(story, cluster, dot):
    """Vision ran 10 days ago, when a GPU-hour cost 2, and runs; Speech ran 3 days ago at 3."""
    now = clock.now()
    today = now.date()
    for days, price in ((40, 2), (5, 3)):
        prices.set_price(
            actor=dot,
            currency="USD",
            resource="gpu",
            amount=price,
            starts_on=today - timedelta(days=days),
        )
    midnight = ms_of(now.replace(hour=0, minute=0, second=0, microsecond=0))
    run(story, cluster, midnight - 240 * HOUR_MS, midnight - 239 * HOUR_MS, gpu=4)
    run(story, cluster, midnight - 72 * HOUR_MS, midnight - 70 * HOUR_MS, gpu=1, team=story.speech)
    run(story, cluster, ms_of(now) - HOUR_MS, gpu=2)
    run(story, cluster, midnight - 1000 * HOUR_MS, midnight - 990 * HOUR_MS, gpu=1)  # long ago
    with platform_scope("test"):
        Quota.objects.create(
            org=story.atlas, scope="team", subject_id=story.vision.id, resource="gpu", limit=16
        )
    ledger.update_ledger()


def listed(view, actor):
    with org_scope(actor.org_id):
        found = view.answer(actor, {})["items"]
    return {row.get("slug", row.get("email")): row for row in found}


def test_teams_show_hours_and_cost_as_the_page_of_cost_does(story, used):
    owner = story.actor(story.ada)
    rows = listed(TEAMS, owner)
    assert rows["vision"]["gpu_hours"] == pytest.approx(6, abs=0.1)  # 4, and 2 GPUs for an hour
    assert rows["speech"]["gpu_hours"] == pytest.approx(2)
    assert sum(rows["vision"]["trend"]) == pytest.approx(rows["vision"]["gpu_hours"], abs=0.01)
    assert rows["vision"]["trend"][19] == pytest.approx(4)  # ten days ago; 29 is today
    assert rows["vision"]["gpus_used"] == 2
    assert rows["vision"]["quotas"] == [{"resource": "gpu", "used": 0, "limit": 16}]
    assert rows["speech"]["gpus_used"] == 0
    assert rows["vision"]["last_job_at"] is not None
    with org_scope(story.atlas.id):
        found = spending(owner, story.atlas, first_day(), clock.now().date())
    for team in found.teams:
        row = rows[team["team"]]
        assert Decimal(row["cost"]) == pytest.approx(team["cost"], abs=Decimal("0.05"))
        assert row["currency"] == "USD"
    assert Decimal(rows["vision"]["cost"]) == pytest.approx(Decimal(14), abs=Decimal("0.05"))


def test_nobody_sees_the_use_of_others_teams(story, used):
    ben = story.actor(story.ben)
    rows = listed(TEAMS, ben)
    assert rows["vision"]["gpu_hours"] == pytest.approx(6, abs=0.1)
    assert {rows["speech"][name] for name in ("gpus_used", "gpu_hours", "cost", "trend")} == {None}
    owner = story.actor(story.ada)
    with org_scope(story.atlas.id):  # a colleague of Ben in Vision, who is not in Speech
        add_member(actor=owner, org=story.atlas, email=story.dot.email, has_agreed=True)
        add_team_member(actor=owner, team=story.vision, email=story.dot.email)
        User.objects.filter(id=story.dot.id).update(is_operator=False)
        story.dot.is_operator = False
    for person, hours in ((story.ada, 8), (story.ben, 8), (story.dot, 6)):
        seen = listed(MEMBERS, story.actor(person, story.atlas))
        assert seen[story.ben.email]["gpu_hours"] == pytest.approx(hours, abs=0.1), person.name
    north = listed(TEAMS, story.actor(story.cyd))["north"]
    assert (north["gpu_hours"], north["gpus_used"], north["last_job_at"]) == (0, 0, None)
    with org_scope(story.borealis.id):  # also not by an id that one knows
        found = use_of(SubjectKind.USER, [story.ben.id], story.actor(story.cyd))[story.ben.id]
    assert not found["gpu_hours"] and not found["gpus_used"] and found["last_job_at"] is None


def test_whoever_sees_no_use_has_no_columns_of_it(story, used):
    owner = story.actor(story.ada)
    with org_scope(story.atlas.id):
        add_member(actor=owner, org=story.atlas, email=story.cyd.email, has_agreed=True)
    headings = {}
    for person in (story.ada, story.cyd):
        text = story.client(person).get("/atlas/teams?format=csv").getvalue().decode()
        headings[person.name] = set(next(csv.reader([text.splitlines()[0]])))
    figures = {"gpus_used", "gpu_hours", "cost", "currency", "trend", "last_job_at"}
    assert headings["Ada"] - headings["Cyd"] == figures
    page = story.client(story.cyd).get("/atlas/teams").content.decode()
    assert "GPU-hours" not in page and "Cost" not in page
    assert "6.0" in story.client(story.ada).get("/atlas/teams").content.decode()


def test_more_rows_take_no_more_queries(story, used):
    owner, counts = story.actor(story.ada), []
    for more in range(2):
        with org_scope(story.atlas.id):
            for n in range(5 * more):
                create_team(actor=owner, org=story.atlas, slug=f"more-{n}", name=f"More {n}")
            with CaptureQueriesContext(
                connection,
            ) as queries:
                TEAMS.answer(owner, {})
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_operators_see_the_use_of_organizations_and_clusters(story, used, cluster):
    operator = story.client(story.dot)
    for path in ("/platform/organizations", "/platform/clusters", "/atlas/pools"):
        assert "8.0" in operator.get(path).content.decode(), path
    assert "20.0" in operator.get("/platform/organizations").content.decode()  # 14 and 6 USD
    keys = [story.atlas.id, story.borealis.id]
    found = use_of(SubjectKind.ORG, keys, story.actor(story.ada))
    assert found[story.borealis.id]["gpu_hours"] is None  # an owner is no operator
