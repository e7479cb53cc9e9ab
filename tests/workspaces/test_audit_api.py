"""Audit log in the API and its page: filters, pagination, exports, verification."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc

import pytest

from portal.core.audit import reading
from portal.core.audit.background import asked
from portal.core.audit.canonical import NO_ORG
from portal.core.audit.models import AuditLink
from portal.core.audit.verify import store_report, verify
from portal.core.events import Caller, EventRecord, caller, record, record_all
from portal.core.models import Event
from tests.each import each
from tests.portal.core.audit.conftest import seal
from workspaces.organizations.services import change_team_member
from workspaces.tenancy.scope import org_scope

API = "/api/v1/orgs/atlas/audit"


@pytest.fixture
def ada(story):
    return story.api(story.ada)


def record_event(
    story, kind="team.renamed", *, org=None, actor="ada@atlas.example", address="", **data
) -> None:
    token = caller.set(Caller(address))
    record(EventRecord(kind, (org or story.atlas).id, "team", story.vision.id, actor, data))
    caller.reset(token)


def found(ada, **query) -> list[str]:
    answer = ada.get(API, query)
    assert answer.status_code == 200, answer.content
    return [event["kind"] for event in answer.json()["items"]]


def test_event_has_actor_action_before_and_after(story, ada):
    with org_scope(story.atlas.id):
        change_team_member(
            actor=story.actor(story.ada),
            team=story.vision,
            email="ben@atlas.example",
            role="viewer",
        )
    [event] = ada.get(API, {"kind": "team_member.changed"}).json()["items"]
    assert (event["actor"], event["subject_type"], event["subject"]) == (
        "ada@atlas.example",
        "team",
        "vision",
    )
    assert (event["data"]["before"], event["data"]["after"]) == (
        {"role": "member"},
        {"role": "viewer"},
    )
    assert event["seq"] is None
    seal()
    assert ada.get(API, {"kind": "team_member.changed"}).json()["items"][0]["seq"] > 0


def test_events_of_other_organization_are_never_listed(story, ada):
    record_event(story, org=story.borealis, name="canary-of-borealis")
    for query in (
        {},
        {"actor": "ada@atlas.example"},
        {"subject": str(story.vision.id)},
        {"subject": "canary-of-borealis"},
    ):
        assert "canary" not in ada.get(API, query).content.decode()
    assert "canary" not in b"".join(ada.get(f"{API}/export").streaming_content).decode()
    assert story.api(story.cyd).get(API).status_code == 404


@pytest.mark.both_databases
@each(
    ("query", "kinds"),
    [
        ({"actor": "EVE@atlas.example"}, ["thing.two"]),
        ({"kind": "thing"}, ["thing.three", "thing.two", "thing.one"]),
        ({"kind": "thing.one"}, ["thing.one"]),
        ({"kind": "thing.one,thing.two"}, ["thing.two", "thing.one"]),
        ({"kind": "thin"}, []),
        ({"subject": "team:vision", "kind": "thing"}, ["thing.one"]),
        ({"subject": "job:12", "kind": "thing"}, []),
        ({"subject": "team:12", "kind": "thing"}, ["thing.three"]),
        ({"subject": "vision", "kind": "thing"}, ["thing.one"]),
        ({"address": "10.2.3.4"}, ["thing.two"]),
        ({"address": "10.2."}, ["thing.three", "thing.two"]),
        ({"since": "1h", "kind": "thing"}, ["thing.three", "thing.two", "thing.one"]),
        ({"until": "1h", "kind": "thing"}, []),
        ({"since": "2026-01-31", "until": "2026-02-01", "kind": "thing"}, []),
        ({"since": "2026-01-31T12:00+09:00", "kind": "thing.one"}, ["thing.one"]),
        ({"request": "no-such-request"}, []),
    ],
)
def test_event_filters(story, ada, query, kinds):
    record_event(story, "thing.one", name="vision")
    record_event(story, "thing.two", actor="eve@atlas.example", address="10.2.3.4")
    record_event(story, "thing.three", address="10.2.3.5", number=12)
    assert found(ada, **query) == kinds


def test_events_are_found_by_request_id(story, ada):
    ada.post(
        "/api/v1/orgs/atlas/teams",
        {"slug": "fresh"},
        content_type="application/json",
        headers={"X-Request-ID": "the-one-request"},
    )
    assert found(ada, request="the-one-request") == ["team.created", "token.first_used"] or found(
        ada, request="the-one-request"
    ) == ["team.created"]


@each(
    ("name", "value"),
    [
        ("kind", "no kind!"),
        ("since", "yesterdy"),
        ("until", "2026-13-01"),
        ("cursor", "x"),
        ("limit", "many"),
        ("actor", "a\x01"),
        ("subject", "x" * 301),
        ("colour", "red"),
        ("since", "9" * 300),
    ],
)
def test_events_invalid_filter_is_rejected_by_name(story, ada, name, value):
    answer = ada.get(API, {name: value})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == name


def test_events_pagination_goes_both_ways(story, ada):
    for n in range(7):
        record_event(story, f"thing.n{'abcdefg'[n]}")
    first = ada.get(API, {"kind": "thing", "limit": 3}).json()
    second = ada.get(API, {"kind": "thing", "limit": 3, "cursor": first["next"]}).json()
    third = ada.get(API, {"kind": "thing", "limit": 3, "cursor": second["next"]}).json()
    kinds = [[event["kind"][-1] for event in page["items"]] for page in (first, second, third)]
    assert kinds == [["g", "f", "e"], ["d", "c", "b"], ["a"]]
    assert (first["previous"], third["next"]) == (None, None)
    back = ada.get(API, {"kind": "thing", "limit": 3, "cursor": third["previous"]}).json()
    assert [event["kind"][-1] for event in back["items"]] == ["d", "c", "b"]


def test_export_jsonl_is_complete_and_recorded(story, ada):
    seal()
    lines = [
        json.loads(line)
        for line in b"".join(ada.get(f"{API}/export").streaming_content).splitlines()
    ]
    assert [line["position"] for line in lines] == sorted(
        Event.objects.filter(org_id=story.atlas.id).values_list("position", flat=True)
    )
    sealed = {line["position"]: line["hash"] for line in lines if line["seq"]}
    assert sealed == {
        link.position: bytes(link.hash).hex()
        for link in AuditLink.objects.filter(chain=story.atlas.id)
    }
    [taken] = Event.objects.filter(kind="audit.exported")
    assert (taken.actor, taken.org_id, taken.data["format"]) == (
        "ada@atlas.example",
        story.atlas.id,
        "jsonl",
    )


@each(
    "nasty",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1+1", "＝1", '=HYPERLINK("http://x","y")'],
)
def test_export_csv_escapes_formulas(story, ada, nasty):
    record_event(story, "thing.nasty", actor=nasty, name=nasty, before={"a": nasty})
    answer = ada.get(f"{API}/export", {"format": "csv", "kind": "thing"})
    assert (
        answer["Content-Type"].startswith("text/csv")
        and "attachment" in answer["Content-Disposition"]
    )
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    [row] = csv.DictReader(io.StringIO(text, newline=""))
    assert all(
        not (cell or " ").lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "＝"))
        for cell in row.values()
    ), row
    assert row["actor"] == "'" + nasty
    assert json.loads(row["before"]) == {"a": nasty}


@pytest.mark.integration
def test_export_memory_is_bounded(story, ada):
    record_all(
        EventRecord(
            "thing.many", story.atlas.id, "thing", None, "ada@atlas.example", {"text": "x" * 500}
        )
        for _ in range(12_000)
    )
    answer = ada.get(f"{API}/export")
    tracemalloc.start()
    size = sum(len(piece) for piece in answer.streaming_content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 9 << 20
    assert peak < 8 << 20


@pytest.mark.both_databases
def test_verification_is_requested_and_result_shown(story, ada):
    ada.get(API)  # the first use of a token is an event
    seal()
    data = ada.get(f"{API}/chain").json()
    assert (
        data["checked"] == "never verified"
        and data["sealing"].startswith("sealed up to now")
        and data["anchor"]["seq"] == data["sealed"]
    )
    response = ada.post(f"{API}/verify")
    assert response.status_code == 202 and response.json()["is_checking"]
    assert asked() == [story.atlas.id]
    store_report(verify(story.atlas.id))
    data = ada.get(f"{API}/chain").json()
    assert (
        not data["is_checking"]
        and data["check"]["fault_count"] == 0
        and "0 faults" in data["checked"]
    )
    assert asked() == []


def test_unsealed_events_are_counted(story, ada):
    seal()
    record_event(story)
    data = ada.get(f"{API}/chain").json()
    assert data["waiting"] >= 1 and "not sealed yet" in data["sealing"] and not data["is_late"]


def test_installation_events_require_operator(story, ada):
    record(
        EventRecord(
            "cluster.connected",
            None,
            "cluster",
            None,
            "dot@platform.example",
            {"name": "canary-cluster"},
        )
    )
    dot = story.api(story.dot, story.atlas)
    assert [e["kind"] for e in dot.get("/api/v1/audit", {"kind": "cluster"}).json()["items"]] == [
        "cluster.connected"
    ]
    assert b"canary-cluster" in b"".join(dot.get("/api/v1/audit/export").streaming_content)
    assert dot.post("/api/v1/audit/verify").status_code == 202
    assert asked() == [NO_ORG]
    for path in ("", "/export", "/chain"):
        assert ada.get(f"/api/v1/audit{path}").status_code == 403
    assert "canary-cluster" not in ada.get(API).content.decode()


def test_audit_page_shows_changes_chain_and_filters(story):
    with org_scope(story.atlas.id):
        change_team_member(
            actor=story.actor(story.ada),
            team=story.vision,
            email="ben@atlas.example",
            role="viewer",
        )
    browser = story.client(story.ada)
    seal()
    text = browser.get("/atlas/audit").content.decode()
    assert (
        "team_member.changed" in text
        and "<del>member</del>" in text
        and "<ins>viewer</ins>" in text
    )
    assert "Sealed up to now" in text and "never verified" in text
    text = browser.get(
        "/atlas/audit", {"kind": "team_member", "actor": "ada@atlas.example"}
    ).content.decode()
    assert "kind:team_member" in text and "org.created" not in text.partition("<tbody>")[2]
    assert (
        "Nothing matches"
        in browser.get("/atlas/audit", {"actor": "nobody@nowhere.example"}).content.decode()
    )
    assert "is not a time" in browser.get("/atlas/audit", {"since": "once"}).content.decode()


def test_audit_page_escapes_markup(story):
    record_event(
        story,
        "thing.nasty",
        name="<script>alert(1)</script>",
        before={"<b>": "<i>"},
        after={"<b>": "\"'"},
    )
    text = story.client(story.ada).get("/atlas/audit").content.decode()
    assert "<script>alert" not in text and "<i>" not in text.partition("<tbody>")[2].replace(
        "<i></i>", ""
    )


def test_audit_page_shows_chain_faults(story):
    seal()
    link = AuditLink.objects.get(chain=story.atlas.id, seq=2)
    Event.objects.filter(position=link.position).update(actor="eve@atlas.example")
    store_report(verify(story.atlas.id))
    text = story.client(story.ada).get("/atlas/audit").content.decode()
    assert "found 1 fault" in text and "#2: the event at position" in text


def test_audit_page_query_count_is_constant(story, django_assert_max_num_queries):
    record_all(
        EventRecord("thing.many", story.atlas.id, "thing", None, "ada@atlas.example")
        for _ in range(300)
    )
    seal()
    browser = story.client(story.ada)
    with django_assert_max_num_queries(23):
        browser.get("/atlas/audit")


def test_reading_all_events_crosses_pages(story, monkeypatch):
    monkeypatch.setattr(reading, "CHUNK", 3)
    record_all(
        EventRecord("thing.many", story.atlas.id, "thing", None, "ada@atlas.example", {"n": n})
        for n in range(10)
    )
    rows = reading.events_of(story.atlas.id).filter(kind="thing.many")
    assert [fact["data"]["n"] for fact in reading.all_of(rows)] == list(range(10))
