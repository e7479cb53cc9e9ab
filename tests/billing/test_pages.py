"""Usage in the browser's and the API's eyes: operator, owner, team member, stranger."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta

import pytest

from billing import recording
from billing.amounts import month_of, ms_of
from billing.services import ledger
from billing.services.prices import set_price
from portal.core import clock
from tests.billing.stage import run
from workspaces.tenancy.scope import platform_scope

HOUR = 3_600_000


@pytest.fixture
def used(story, cluster):
    """Jobs of Vision and Speech in the last month and now."""
    now = clock.now()
    last = (now.replace(day=1) - timedelta(days=3)).replace(hour=2)
    for team in (story.vision, story.speech):
        run(story, cluster, ms_of(last), ms_of(last) + 2 * HOUR, gpu=4, team=team)
    attempt = run(story, cluster, ms_of(now) - 2 * HOUR, gpu=2)
    ledger.update_ledger()
    with platform_scope("test"):
        recording.record_hours(now - timedelta(hours=3))
    recording.record_all()
    return attempt, f"{last:%Y-%m}"


def text(response):
    assert response.status_code == 200, response.content[:500]
    return response.content.decode()


def test_operator_prices_and_issues_what_the_owner_reads(story, used):
    attempt, month = used
    operator, owner = story.client(story.dot), story.client(story.ada)
    assert "gpu.h100" in text(operator.get("/platform/prices"))  # used, without a price
    form = {"resource": "gpu.h100", "amount": "2.50", "currency": "usd", "starts_on": f"{month}-01"}
    page = text(operator.post("/platform/prices", form, follow=True))
    assert "2.50 USD" in page
    assert "20.00" in text(owner.get(f"/atlas/usage/statements/{month}"))  # 8 h × 2.50, a draft
    drafts = text(operator.get(f"/platform/statements?month={month}"))
    assert "40.00 USD" in drafts and "nothing to bill" in drafts  # Atlas, Borealis
    operator.post("/platform/statements", {"org": "atlas", "month": month})
    page = text(owner.get(f"/atlas/usage/statements/{month}"))
    assert "SHA-256" in page
    pdf = owner.get(f"/atlas/usage/statements/{month}?as=pdf")
    assert pdf["Content-Type"] == "application/pdf"
    assert pdf.content.startswith(b"%PDF")
    assert b"BilledCost" in owner.get(f"/atlas/usage/statements/{month}?as=focus").content
    assert "40.00 USD" in text(owner.get("/atlas/usage/statements"))
    page = text(operator.get(f"/platform/statements?month={month}"))
    assert "Issued" in page
    months = re.findall(r"<option[^>]*>(\d{4}-\d\d)", page)
    assert months == [f"{clock.now():%Y-%m}", month]  # nothing was used before
    assert "Cost so far" in text(owner.get(f"/atlas/jobs/{attempt.job.number}"))
    assert re.search(r"10\.0\d USD", text(owner.get("/atlas/usage/cost")))  # 4 h, and seconds


def test_pages_of_usage_show_what_one_may_see(story, used):
    for person, pages in (
        (story.ada, ("usage", "usage/jobs", "usage/cost", "usage/statements")),
        (story.ben, ("usage", "usage/jobs", "usage/cost")),
        (story.dot, ("usage", "usage?range=30d")),
    ):
        for page in pages:
            text(story.client(person).get(f"/atlas/{page}"))
    for page in ("usage", "usage?range=90d", "usage/jobs", "usage?org=atlas", "accounts?org=atlas"):
        text(story.client(story.dot).get(f"/platform/{page}"))
    assert story.client(story.ben).get("/atlas/usage/statements").status_code == 403
    assert story.client(story.ben).get("/atlas/usage?team=speech").status_code == 404
    assert story.client(story.cyd).get("/atlas/usage").status_code == 404
    assert story.client(story.ada).get("/platform/usage").status_code in (403, 404)
    assert story.client(story.ada).get("/atlas/usage?range=1y").status_code == 400
    csv = story.client(story.ada).get("/atlas/usage?as=csv").content.decode("utf-8-sig")
    assert csv.startswith("time,allocated_gpus")


def names(response):
    return re.findall(r'data-panel="([a-z-]+)"', text(response))


def test_each_panel_has_a_csv(story, used):
    for person, page in (
        (story.ada, "/atlas/usage"),
        (story.dot, "/platform/usage"),
        (story.dot, "/platform/usage/jobs"),
    ):
        client = story.client(person)
        for name in names(client.get(page)):
            lines = text(client.get(f"{page}?as=csv&panel={name}")).splitlines()
            assert len({line.count(",") for line in lines}) == 1, name
    assert story.client(story.ada).get("/atlas/usage?as=csv&panel=power").status_code == 404


def test_panels_stay_as_each_person_has_arranged_them(story, used):
    ada, ben, dot = (story.client(person) for person in (story.ada, story.ben, story.dot))
    page, default = "/atlas/usage", names(story.client(story.ada).get("/atlas/usage"))
    assert {"queue", "failures", "teams"} < set(default) and "power" not in default
    assert ada.post(page, {"panels": "queue,-wasters,nonsense"}).status_code == 302
    mine = names(ada.get(page))
    assert mine == ["queue", *(n for n in default if n not in ("queue", "wasters"))]
    assert 'data-board-show="wasters"' in text(ada.get(page))
    assert names(ben.get(page)) == default
    shared = names(ben.get(f"{page}?panels=teams,-queue"))  # a link from somebody else
    assert shared[0] == "teams" and "queue" not in shared
    assert "panels=teams,-queue" in text(ben.get(f"{page}?panels=teams,-queue"))
    ada.post(page, {"panels": ""})
    assert names(ada.get(page)) == default
    dot.post("/platform/usage", {"panels": "health,-power"})
    dot.post("/platform/usage?org=atlas", {"panels": "teams"})  # there are no power and health
    assert "power" not in names(dot.get("/platform/usage"))
    assert story.client(story.cyd).post(page, {"panels": "queue"}).status_code == 404


def test_empty_pages_name_the_next_step(story):
    for page in ("usage", "usage/jobs", "usage/cost"):
        assert "muster" in text(story.client(story.ada).get(f"/atlas/{page}"))
    assert "Open the draft" in text(story.client(story.ada).get("/atlas/usage/statements"))
    for page in ("usage", "usage/jobs", "prices", "accounts", "statements"):
        text(story.client(story.dot).get(f"/platform/{page}"))


def test_api_answers_cost_waste_and_budgets(story, used):
    ben, ada = story.api(story.ben), story.api(story.ada)
    base = "/api/v1/orgs/atlas"
    rows = ada.get(f"{base}/cost?first={used[1]}-01").json()["items"]
    assert {row["team"] for row in rows} == {"vision", "speech"}
    rows = ben.get(f"{base}/cost?first={used[1]}-01").json()["items"]
    assert {row["team"] for row in rows} == {"vision"}
    found = ben.get(f"{base}/waste?range=24h").json()
    assert sum(one["gpu_ms"] for one in found["buckets"]) > HOUR
    assert "jobs" in ben.get(f"{base}/usage").json()
    body = {"team": "vision", "amount": "100", "stops": True}
    made = ada.put(f"{base}/budgets", body, content_type="application/json")
    assert made.status_code == 200, made.content
    assert ben.get(f"{base}/budgets").json()["items"][0]["amount"] == "100.00"
    assert ben.put(f"{base}/budgets", body, content_type="application/json").status_code == 403
    assert ada.delete(f"{base}/budgets?team=vision").status_code == 204
    assert story.api(story.cyd).get(f"{base}/cost").status_code == 404


def test_draft_of_the_form_says_what_the_job_will_cost(story, cluster):
    operator = story.client(story.dot)
    day = date.today().replace(day=1)
    form = {"resource": "gpu", "amount": "4", "currency": "USD", "starts_on": day.isoformat()}
    operator.post("/platform/prices", form)
    draft = "run: true\nresources:\n  accelerators: h100:2\npolicy:\n  max_runtime: 3h\n"
    answer = story.api(story.ben).post(
        "/api/v1/orgs/atlas/jobs/validate",
        {"yaml": draft, "team": "vision"},
        content_type="application/json",
    )
    assert answer.json()["price"]["most_text"] == "24.00 USD"


def test_month_that_is_none_is_refused(story):
    assert story.client(story.ada).get("/atlas/usage/statements/2026-13").status_code == 400
    assert datetime(2026, 1, 1, tzinfo=UTC)


def test_absurd_dates_are_refused(story):
    ada, dot = story.api(story.ada), story.api(story.dot)
    for query in ("first=9999-12-31", "first=0001-01-01&last=0001-01-02", "last=9999-12-31"):
        for path in ("orgs/atlas/cost", "orgs/atlas/usage", "orgs/atlas/waste"):
            assert ada.get(f"/api/v1/{path}?{query}").status_code == 400, (path, query)
        for page in ("/atlas/usage", "/atlas/usage/jobs", "/atlas/usage/cost"):
            assert story.client(story.ada).get(f"{page}?{query}").status_code == 400, (page, query)
    for month in ("9999-12", "0001-01"):
        assert ada.get(f"/api/v1/orgs/atlas/statements/{month}").status_code == 400
        body = {"month": month}
        url = "/api/v1/orgs/atlas/statements"
        assert dot.post(url, body, content_type="application/json").status_code == 400


def test_member_learns_nothing_of_the_money_of_other_teams(story, used):
    operator = story.client(story.dot)
    day = date.today().replace(month=1, day=1).isoformat()
    form = {"resource": "gpu", "amount": "4", "currency": "USD", "starts_on": day}
    operator.post("/platform/prices", form)
    form = {"org": "atlas", "do": "discount", "team": "speech", "percent": "50", "starts_on": day}
    operator.post("/platform/accounts", form)
    api = story.api(story.ada)
    for team in ("vision", "speech", None):
        body = {"team": team, "amount": "777.77"}
        url = "/api/v1/orgs/atlas/budgets"
        assert api.put(url, body, content_type="application/json").status_code == 200
    ben, base = story.api(story.ben), "/api/v1/orgs/atlas"
    assert [row["team"] for row in ben.get(f"{base}/budgets").json()["items"]] == ["vision"]
    assert {row["team"] for row in ben.get(f"{base}/cost").json()["items"]} == {"vision"}
    assert ben.get(f"{base}/cost?team=speech").json()["items"] == []
    for path in (f"{base}/usage?team=speech", f"{base}/waste?team=speech"):
        assert ben.get(path).status_code == 404
    assert ben.get(f"{base}/statements/{used[1]}?as=lines").status_code == 403
    draft = {"yaml": "run: x\nresources: {accelerators: h100:1}", "team": "speech"}
    price = ben.post(f"{base}/jobs/validate", draft, content_type="application/json").json()[
        "price"
    ]
    assert price["hourly"] == "4.00", "the discount of Speech is not shown"
    page = story.client(story.ben).get("/atlas/usage/cost").content.decode()
    assert page.count("777.77") == 1 and "Speech" not in page


def test_lines_of_a_month_are_streamed(story, used):
    answer = story.client(story.ada).get(f"/atlas/usage/statements/{used[1]}?as=lines")
    assert answer.streaming and answer["Content-Disposition"].endswith('-lines.csv"')
    rows = b"".join(answer).decode().splitlines()
    assert len(rows) == 1 + 6 and sum("gpu.h100" in row for row in rows) == 2


def test_month_without_use_has_no_draft(story):
    last = month_of(month_of(clock.now().date()) - timedelta(days=1))
    page = story.client(story.ada).get("/atlas/usage/statements").content.decode()
    assert f"/atlas/usage/statements/{clock.now():%Y-%m}" in page
    assert f"/atlas/usage/statements/{last:%Y-%m}" not in page


def test_forecast_adds_the_mean_of_whole_days_to_each_day_left(story, cluster):
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    owner = story.client(story.ada)
    with clock.frozen(now):
        set_price(
            actor=story.actor(story.dot),
            currency="USD",
            resource="gpu.h100",
            amount="1",
            starts_on=date(2026, 11, 1),
        )
        for day, team in ((2, story.vision), (17, story.vision), (19, story.speech)):
            at = ms_of(datetime(2026, 11, day, 2, tzinfo=UTC))
            run(story, cluster, at, at + 2 * HOUR, gpu=6, team=team, cpu=0, memory=0)
        ledger.update_ledger()
        page = text(owner.get("/atlas/usage/cost"))
        past = text(owner.get("/atlas/usage/cost?first=2026-11-01&last=2026-11-19"))
    # 36 until now; 8 is the mean of the 17th to the 19th, for today and ten days
    assert "124.00 USD" in page and "36.00 USD until now, and 8.00 USD" in page
    chart = json.loads(re.search(r'id="cost-days"[^>]*>(.*?)</script>', page)[1])
    assert [row["kind"] for row in chart["series"]] == ["bars", "bars", "forecast"]
    assert datetime.fromtimestamp(chart["times"][-1], UTC).date() == date(2026, 11, 30)
    assert sum(filter(None, chart["series"][-1]["values"])) == 88
    assert "orecast" not in past


def test_gpus_by_team_add_up_to_what_is_allocated(story, cluster, used):
    now = clock.now()
    run(story, cluster, ms_of(now) - HOUR, gpu=1, team=story.speech)
    with platform_scope("test"):
        recording.record_hours(now - timedelta(hours=3))
    page = text(story.client(story.ada).get("/atlas/usage?range=90d"))
    whole, parts = (
        json.loads(re.search(rf'id="{name}"[^>]*>(.*?)</script>', page)[1])
        for name in ("gpu-times", "shares")
    )
    assert {row["label"] for row in parts["series"]} == {"Vision", "Speech"}
    assert parts["times"] == whole["times"] and max(whole["times"]) <= clock.now().timestamp()
    sums = [
        [sum(row["values"][at] or 0 for row in some if row["kind"] == "area") for at in range(90)]
        for some in (whole["series"], parts["series"])
    ]
    assert sums[0] == pytest.approx(sums[1], abs=0.01) and max(sums[0]) > 0
