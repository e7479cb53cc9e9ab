"""Prices, statements, corrections, credits and budgets."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.test import modify_settings

from billing import costs, documents
from billing.amounts import DAY_MS, at_ms, ms_of, rounded
from billing.models import Budget, LedgerLine, Statement
from billing.services import budgets, ledger, prices, statements
from jobs.quotas.pricing import cost_of_jobs, price_of
from portal.core import clock
from portal.core.declarations import declared
from portal.core.errors import Conflict, InvalidInput, NotPermitted, QuotaExceeded
from portal.core.models import Event
from schedulers.spec import parse_mapping
from schedulers.states import Reason, State
from tests.billing.stage import finish, granted, run
from tests.jobs.stage import submit
from workspaces.tenancy.scope import org_scope, platform_scope

OCTOBER, NOVEMBER = date(2026, 10, 1), date(2026, 11, 1)
START = ms_of(datetime(2026, 10, 10, tzinfo=UTC))
HOUR = 3_600_000
IN_NOVEMBER = datetime(2026, 11, 20, 12, tzinfo=UTC)
IN_DECEMBER = datetime(2026, 12, 2, 12, tzinfo=UTC)


@pytest.fixture
def priced(story, dot):
    for resource, amount in (("gpu", "2"), ("gpu.h100", "3.5"), ("cpu", "0.01")):
        prices.set_price(
            actor=dot, currency="USD", resource=resource, amount=amount, starts_on=OCTOBER
        )


def issue(dot, story, month, at):
    with clock.frozen(at), org_scope(story.atlas.id):
        return statements.issue_statement(actor=dot, org=story.atlas, month=month)


def costs_of(row, **where):
    return [
        Decimal(line["cost"])
        for line in row.document["lines"]
        if all(line[name] == value for name, value in where.items())
    ]


def test_statement_bills_each_line_and_never_changes(story, cluster, dot, priced):
    run(story, cluster, START, START + 10 * HOUR, gpu=2, cpu=4000)
    run(story, cluster, START, START + HOUR, gpu=1, gpu_type="a100", team=story.speech)
    row = issue(dot, story, OCTOBER, IN_NOVEMBER)
    assert costs_of(row, team="vision", resource="gpu.h100") == [Decimal("70.00")]
    assert costs_of(row, team="vision", resource="cpu") == [Decimal("0.40")]
    assert costs_of(row, team="speech", resource="gpu.a100") == [Decimal("2.00")]  # as any GPU
    assert row.total == sum(costs_of(row)) == Decimal("72.41")
    assert row.document["totals"]["total"] == "72.41"
    with org_scope(story.atlas.id):
        # Later prices and ends change neither the row nor its hash.
        prices.set_price(
            actor=dot, currency="USD", resource="gpu.h100", amount="9", starts_on=OCTOBER
        )
        kept = Statement.objects.get(id=row.id)
        assert kept.document == row.document
        assert statements.is_intact(kept)
        with pytest.raises(ValueError, match="never changes"):
            kept.save()
    with pytest.raises(Conflict):
        issue(dot, story, OCTOBER, IN_NOVEMBER)
    with pytest.raises(Conflict, match="not over"):
        issue(dot, story, NOVEMBER, IN_NOVEMBER)
    with pytest.raises(NotPermitted):
        issue(story.actor(story.ada), story, NOVEMBER, IN_DECEMBER)


def test_team_pays_for_time_lost_by_the_platform_only_what_the_rule_says(
    story, cluster, dot, priced
):
    attempt = run(story, cluster, START, gpu=2, cpu=0)
    attempt.reason = Reason.NODE_FAILED
    finish(attempt, START + 10 * HOUR, State.FAILED)
    row = issue(dot, story, OCTOBER, IN_NOVEMBER)
    [line] = [one for one in row.document["lines"] if one["resource"] == "gpu.h100"]
    assert (line["kind"], line["list"], line["percent"], line["cost"]) == (
        "lost", "70.00", "100", "0.00"
    )  # fmt: skip
    with org_scope(story.atlas.id):
        with pytest.raises(InvalidInput, match="0 to 100"):
            prices.set_price(
                actor=dot, currency="USD", resource="lost", amount="101", starts_on=OCTOBER
            )
        prices.set_price(actor=dot, currency="USD", resource="lost", amount="25", starts_on=OCTOBER)
        costs = costs_of_document(statements.draft(story.atlas, NOVEMBER))
    assert costs["Correction", "gpu.h100"] == Decimal("17.50")


def test_kind_of_another_app_has_lines_of_its_own_and_uses_what_was_promised(
    story, cluster, dot, priced
):
    """Its time costs what that of jobs does, in a class that billing does not know."""
    pool = granted(story, cluster, 4, START, START + 2 * HOUR).pool
    declared.cache_clear()
    try:
        with modify_settings(INSTALLED_APPS={"append": "tests.billing.probe"}):
            run(story, cluster, START, START + HOUR, gpu=1, cpu=0, pool=pool)
            lost = run(story, cluster, START, gpu=2, cpu=0, pool=pool, kind="probe")
            lost.reason = Reason.NODE_FAILED
            finish(lost, START + HOUR // 2, State.FAILED)
            run(story, cluster, START, START + HOUR, gpu=2, cpu=0, pool=pool, kind="probe")
            row = issue(dot, story, OCTOBER, IN_NOVEMBER)
    finally:
        declared.cache_clear()
    bill = {
        line["kind"]: (float(line["hours"]), line["cost"])
        for line in row.document["lines"]
        if line["resource"] == "gpu.h100"
    }
    assert bill == {
        "job": (1, "3.50"),
        "probe": (2, "7.00"),
        "lost": (1, "0.00"),
        "reservation": (4.5, "15.75"),
    }
    page = story.client(story.ada).get("/atlas/usage/statements/2026-10").content.decode()
    assert "probe" in page and b"Probe: gpu.h100" in documents.as_focus(row.document)


def costs_of_document(document):
    return {(line["class"], line["resource"]): Decimal(line["cost"]) for line in document["lines"]}


def test_correction_is_a_line_of_the_next_statement(story, cluster, dot, priced):
    attempt = run(story, cluster, START, START + 10 * HOUR, gpu=1)
    first = issue(dot, story, OCTOBER, IN_NOVEMBER)
    # It had ended after four hours, as the cluster says later; and one job was not known at all.
    finish(attempt, START + 4 * HOUR)
    run(story, cluster, START, START + HOUR, gpu=1, team=story.speech)
    with clock.frozen(IN_NOVEMBER + timedelta(hours=1)):
        ledger.update_ledger()
    second = issue(dot, story, NOVEMBER, IN_DECEMBER)
    gpu = {"resource": "gpu.h100", "class": "Correction"}
    assert costs_of(second, team="vision", **gpu) == [Decimal("-21.00")]
    assert costs_of(second, team="speech", **gpu) == [Decimal("3.50")]
    assert second.document["totals"]["corrections"] == str(sum(costs_of(second)))
    # Both together bill what the ledger says, and a third has nothing more to correct.
    assert first.total + second.total == Decimal("14.04") + Decimal("3.51")
    third = issue(dot, story, date(2026, 12, 1), datetime(2027, 1, 2, tzinfo=UTC))
    assert third.document["lines"] == []


def test_month_issued_late_bills_nothing_twice(story, cluster, dot, priced):
    september = ms_of(datetime(2026, 10, 1, tzinfo=UTC)) - 5 * HOUR
    prices.set_price(
        actor=dot, currency="USD", resource="gpu.h100", amount="3.5", starts_on=date(2026, 9, 1)
    )
    attempt = run(story, cluster, september, september + HOUR, gpu=1, cpu=0)
    run(story, cluster, START, START + HOUR, gpu=1, cpu=0)
    total = issue(dot, story, date(2026, 9, 1), IN_NOVEMBER).total
    finish(attempt, september + 2 * HOUR)
    for month in (NOVEMBER, OCTOBER, date(2026, 12, 1)):  # October was forgotten
        total += issue(dot, story, month, datetime(2027, 1, 3, tzinfo=UTC)).total
    assert total == Decimal("10.50")


def test_price_of_each_day_discount_and_credit(story, cluster, dot, priced):
    prices.set_price(
        actor=dot,
        currency="USD",
        resource="gpu.h100",
        amount="5",
        starts_on=date(2026, 10, 11),
    )
    with org_scope(story.atlas.id):
        ask = {"actor": dot, "org": story.atlas, "starts_on": OCTOBER}
        prices.set_discount(team=None, percent="10", **ask)
        prices.set_discount(team=story.speech, percent="50", **ask)
        prices.add_credit(team=None, amount="100", note="Welcome", **ask)
    run(story, cluster, START + 23 * HOUR, START + 25 * HOUR, gpu=10, cpu=0)
    run(story, cluster, START, START + HOUR, gpu=2, cpu=0, team=story.speech)
    row = issue(dot, story, OCTOBER, IN_NOVEMBER)
    assert costs_of(row, team="vision", category="Usage", resource="gpu.h100") == [
        Decimal("31.50"),
        Decimal("45.00"),
    ]
    assert costs_of(row, team="speech", category="Usage", resource="gpu.h100") == [Decimal("3.50")]
    assert costs_of(row, category="Credit") == [Decimal("-80.00")]
    assert row.total == 0
    run(
        story,
        cluster,
        ms_of(datetime(2026, 11, 2, tzinfo=UTC)),
        ms_of(datetime(2026, 11, 2, 10, tzinfo=UTC)),
        gpu=1,
        cpu=0,
    )
    with clock.frozen(IN_DECEMBER):
        ledger.update_ledger()
    assert costs_of(issue(dot, story, NOVEMBER, IN_DECEMBER), category="Credit") == [
        Decimal("-20.00")
    ]


def test_half_coins_round_to_even_and_the_total_is_the_sum_of_lines():
    assert [str(rounded(Decimal(text), "USD")) for text in ("0.125", "0.135", "-0.125")] == [
        "0.12",
        "0.14",
        "-0.12",
    ]
    assert str(rounded(Decimal("2.5"), "KRW")) == "2"


def test_files_of_a_statement(story, cluster, dot, priced):
    run(story, cluster, START, START + 10 * HOUR, gpu=2)
    attempt = run(story, cluster, START, START + HOUR, gpu=1, team=story.speech)
    issue(dot, story, OCTOBER, IN_NOVEMBER)
    finish(attempt, START + 2 * HOUR)
    with clock.frozen(IN_NOVEMBER + timedelta(hours=1)):
        ledger.update_ledger()
    row = issue(dot, story, NOVEMBER, IN_DECEMBER)
    focus = list(csv.DictReader(io.StringIO(documents.as_focus(row.document).decode())))
    assert {one["ChargeClass"] for one in focus} == {"Correction"}
    assert sum(Decimal(one["BilledCost"]) for one in focus) == row.total
    assert {one["ChargePeriodStart"] for one in focus} == {"2026-10-01T00:00:00Z"}
    plain = list(csv.DictReader(io.StringIO(documents.as_csv(row.document).decode("utf-8-sig"))))
    assert sum(Decimal(one["cost"]) for one in plain) == row.total
    story.atlas.name = "아틀라스 & <b>"
    pdf = documents.as_pdf(
        row.document
        | {"organization": {"slug": "atlas", "name": story.atlas.name, "address": "서울\n1"}},
        row.sha256,
    )
    assert pdf.startswith(b"%PDF")
    assert pdf == documents.as_pdf(
        row.document
        | {"organization": {"slug": "atlas", "name": story.atlas.name, "address": "서울\n1"}},
        row.sha256,
    )


@pytest.mark.parametrize("formula", ["=HYPERLINK(1)", " =1+1", "＝1", "-1+cmd|x", "@SUM(1)"])
def test_formula_in_a_note_is_text_in_a_spreadsheet(story, cluster, dot, priced, formula):
    run(story, cluster, START, START + HOUR, gpu=1)
    with org_scope(story.atlas.id):
        prices.add_credit(
            actor=dot, org=story.atlas, team=None, amount="1", starts_on=OCTOBER, note=formula
        )
    row = issue(dot, story, OCTOBER, IN_NOVEMBER)
    found = list(csv.DictReader(io.StringIO(documents.as_csv(row.document).decode("utf-8-sig"))))
    assert [(one["note"], one["cost"]) for one in found if one["kind"] == "credit"] == [
        (f"'{formula}", "-1.00")
    ]


def test_lines_of_single_jobs_add_up_to_the_statement(story, cluster, dot, priced):
    for n in range(5):
        run(story, cluster, START + n, START + n * HOUR + 12_345, gpu=3)
    row = issue(dot, story, OCTOBER, IN_NOVEMBER)
    with org_scope(story.atlas.id):
        rows = LedgerLine.objects.order_by("day")
        found = documents.lines_csv(rows, prices.PriceList("USD", story.atlas.id), {})
        text = b"".join(found).decode("utf-8-sig")
    lines = [one for one in csv.DictReader(io.StringIO(text)) if one["resource"] == "gpu.h100"]
    assert len({one["job"] for one in lines}) == 5
    exact = sum(Decimal(one["cost"]) for one in lines)
    assert rounded(exact, "USD") == costs_of(row, resource="gpu.h100")[0]


def test_cost_of_a_job_so_far_and_to_be(story, cluster, dot, priced):
    attempt = run(story, cluster, START, gpu=2)
    with clock.frozen(at_ms(START + 30 * 60_000)), org_scope(story.atlas.id):
        assert cost_of_jobs([attempt.job_id]) == "3.50 USD"  # 3.505, half to even
        ledger.update_ledger()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(costs, "MOST_ATTEMPTS", 0)  # as if there were many
            assert cost_of_jobs([attempt.job_id]) == "3.50 USD"
        spec = parse_mapping(
            {
                "run": "true",
                "resources": {"accelerators": "h100:2", "cpus": 1},
                "policy": {"max_runtime": "2h"},
                "array": {"size": 3},
            }
        )
        found = price_of(story.actor(story.ben), story.vision, spec)
        assert (found["hourly"], found["most"]) == ("21.03", "42.06")


@pytest.mark.parametrize(
    "wrong",
    [
        {"resource": "disk"},
        {"amount": "-1"},
        {"amount": "1e"},
        {"amount": "NaN"},
        {"amount": "0.123456789"},
        {"currency": "EURO"},
    ],
)
def test_wrong_price_is_refused(story, dot, wrong):
    given = {"currency": "EUR", "resource": "cpu", "amount": "1", "starts_on": OCTOBER} | wrong
    with pytest.raises(InvalidInput):
        prices.set_price(actor=dot, **given)


# Budgets


@pytest.fixture
def spent(story, cluster, dot, priced):
    """Return a function that makes Vision spend so many GPU-hours in November."""

    def spend(hours):
        start = ms_of(datetime(2026, 11, 3, tzinfo=UTC))
        run(story, cluster, start, start + round(hours * HOUR), gpu=1, cpu=0)
        with clock.frozen(IN_NOVEMBER):
            ledger.update_ledger()
            budgets.check_budgets()

    return spend


def reports():
    rows = Event.objects.filter(kind="budget.threshold_reached").order_by("position")
    return [(row.data["name"], row.data["percent"]) for row in rows]


def test_budget_reports_each_threshold_once_and_stops_new_jobs(story, cluster, dot, spent):
    ada = story.actor(story.ada)
    with clock.frozen(IN_NOVEMBER), org_scope(story.atlas.id):
        budgets.set_budget(actor=ada, org=story.atlas, team=None, amount="1000")
        budgets.set_budget(actor=ada, org=story.atlas, team=story.vision, amount="35", stops=True)
    for hours, expected in ((4, []), (2, [50]), (0.1, [50]), (3, [50, 80]), (1, [50, 80, 100])):
        spent(hours)
        assert reports() == [("Vision", percent) for percent in expected]
    with clock.frozen(IN_NOVEMBER):
        with pytest.raises(QuotaExceeded, match="budget of team Vision"):
            submit(story)
        with org_scope(story.atlas.id):
            budgets.set_budget(
                actor=ada, org=story.atlas, team=story.vision, amount="350", stops=True
            )
        budgets._forget_stops()
        assert submit(story).number
    with clock.frozen(IN_DECEMBER):
        budgets.check_budgets()
        with org_scope(story.atlas.id):
            assert Budget.objects.get(team=story.vision).spent == 0


def test_budget_counts_what_runs(story, cluster, dot, priced):
    run(story, cluster, ms_of(IN_NOVEMBER) - 2 * DAY_MS, gpu=1, cpu=0)
    with clock.frozen(IN_NOVEMBER):
        ledger.update_ledger()
        with org_scope(story.atlas.id):
            row = budgets.set_budget(
                actor=story.actor(story.ada), org=story.atlas, team=story.vision, amount="1000"
            )
            assert row.spent == Decimal("168.00")  # 48 hours, of which 12 are today
            assert sum(
                costs.cost_of(
                    costs.used_in(story.atlas.id, NOVEMBER, date(2026, 11, 30)),
                    prices.PriceList("USD", story.atlas.id),
                ).values()
            ) == Decimal("126.00")


def test_member_may_not_set_a_budget(story):
    with org_scope(story.atlas.id), pytest.raises(NotPermitted):
        budgets.set_budget(
            actor=story.actor(story.ben), org=story.atlas, team=story.vision, amount="1"
        )


def test_other_organization_sees_no_line(story, cluster):
    run(story, cluster, START, START + HOUR, gpu=1)
    with clock.frozen(IN_NOVEMBER):
        ledger.update_ledger()
    with org_scope(story.borealis.id):
        assert not LedgerLine.objects.exists()
    with platform_scope("test"):
        assert LedgerLine.objects.exists()
