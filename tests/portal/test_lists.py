"""Lists on pages and in the API: chips that combine, the text language, columns and files."""

from __future__ import annotations

import csv
import html
import io
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest

from jobs.models import Job
from portal.core import clock
from schedulers.states import State
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import org_scope

pytestmark = pytest.mark.usefixtures("home")
PAGE, API = "/atlas/jobs", "/api/v1/orgs/atlas/jobs"


@pytest.fixture
def jobs(story):
    """Create jobs of two people: number 1 to 5."""
    cluster_with(gpus=2)
    made = [
        ("llm-train", State.FAILED, story.ada, {"team": "a"}),
        ("llm-test", State.FAILED, story.ada, {"team": "b"}),
        ("LLM eval", State.RUNNING, story.ben, {}),
        ("vit", State.SUCCEEDED, story.ben, {"team": "a"}),
        ("vit-test", State.QUEUED, story.ada, {}),
    ]
    for name, state, owner, labels in made:
        job = submit(story, owner, name=name, labels=labels)
        with org_scope(story.atlas.id):
            Job.objects.filter(id=job.id).update(state=state)
    with org_scope(story.atlas.id):
        Job.objects.filter(name="llm-train").update(
            resources={"gpu": 2, "gpu.h100": 2}, started_at=clock.now() - timedelta(hours=2)
        )
    return story


QUERIES = [
    ("state=failed,running", "state:failed,running", {1, 2, 3}),
    ("state=!failed", "-state:failed", {3, 4, 5}),
    ("q=llm", "llm", {1, 2, 3}),
    ("q=llm+-test", "llm -test", {1, 3}),
    ("owner=me&state=failed,queued", "state:failed state:queued user:me", {1, 2, 5}),
    ("owner=!me", "-user:me", {3, 4}),
    ("owner=BEN", "user:BEN", {3, 4}),
    ("owner=ben@atlas.example&on=today", "user:ben@atlas.example on:today", {3, 4}),
    ("on=yesterday", "on:yesterday", set()),
    ("since=yesterday&until=today", "after:yesterday before:today", set()),
    ("duration=%3E1h", "duration:>1h", {1}),
    ("duration=10m..1h", "duration:10m..1h", set()),
    ("name=llm&state=failed", "name:llm state:failed", {1, 2}),
    ("name=!test", "-name:test", {1, 3, 4}),
    ("name=%3Dvit", "name:=vit", {4}),
    ("gpu=h100", "gpu:h100", {1}),
    ("gpu=none", "gpu:none", {2, 3, 4, 5}),
    ("label=team:a", "label:team:a", {1, 4}),
    ("label=!team:a", "-label:team:a", {2, 3, 5}),
    ("since=1h", "since:1h", {1, 2, 3, 4, 5}),
    ("team=!vision", "-team:vision", set()),
    ("q=%233", "#3", {3}),
]


def numbers(client, url):
    return {row["number"] for row in client.get(url).context["list"].rows}


@pytest.mark.both_databases
def test_parameters_and_text_find_the_same_on_page_and_in_api(subtests, jobs):
    browser, api = jobs.client(jobs.ada), jobs.api(jobs.ada)
    for params, text, wanted in QUERIES:
        with subtests.test(text=text):
            for asked in (params, urlencode({"query": text})):
                items = api.get(f"{API}?{asked}").json()["items"]
                assert {job["number"] for job in items} == wanted
            answer = browser.get(PAGE, {"query": text})
            assert answer.status_code == 302, answer.context and answer.context["list"].problems
            assert numbers(browser, answer["Location"]) == wanted
            assert numbers(browser, f"{PAGE}?{params}") == wanted


def test_chips_combine_and_count_what_the_other_filters_pass(jobs):
    browser = jobs.client(jobs.ada)
    shown = browser.get(f"{PAGE}?state=failed&owner=me").context["list"]
    chips = {str(chip.label): chip for control in shown.controls for chip in control.chips}
    assert (chips["Failed"].is_set, chips["Failed"].count) == (True, 2)
    assert (chips["Queued"].is_set, chips["Queued"].count) == (False, 1)
    assert chips["Queued"].url == "?state=failed,queued&owner=me"
    assert chips["Failed"].url == "?owner=me"
    assert numbers(browser, PAGE + chips["Queued"].url) == {1, 2, 5}
    assert chips["Mine"].count == 2


WRONG = [  # texts, the sentence about them, the fix, and the rows that its link shows
    ("stat:failed llm", "There is no filter “stat”", "state:failed", {1, 2}),
    ("-since:1h vit", "“since” can’t be excluded", "since:1h", {4, 5}),
    ("xyz:1 llm", "There are: state, user", '"xyz:1"', set()),
    ("state:faild llm", "“faild” is not a state", "state:failed", {1, 2}),
    ("user:bem", "Nobody here is called “bem”", "user:ben@atlas.example", {3, 4}),
    ("on:yesterdy", "“yesterdy” is not a time", "on:yesterday", set()),
    ("duration:long", "“long” is not an amount", "Remove the filter", {1, 2, 3, 4, 5}),
]


def test_wrong_words_are_explained_with_a_fix_and_the_rest_applies(subtests, jobs):
    browser, api = jobs.client(jobs.ada), jobs.api(jobs.ada)
    for text, sentence, fix, wanted in WRONG:
        with subtests.test(text=text):
            answer = browser.get(PAGE, {"query": text}, follow=True)
            [problem] = answer.context["list"].problems
            assert sentence in problem.text and (str(problem.fix), answer.status_code) == (fix, 200)
            assert f'value="{html.escape(text)}"' in answer.content.decode()
            fixed = browser.get(PAGE + problem.url, follow=True).context["list"]
            assert {row["number"] for row in fixed.rows} == wanted and not fixed.problems
            refused = api.get(f"{API}?{urlencode({'query': text})}")
            assert refused.status_code == 400 and sentence in refused.json()["detail"]
    answer = browser.get(PAGE, {"query": "stat:failed llm"})
    assert {row["number"] for row in answer.context["list"].rows} == {1, 2, 3}


def test_menus_count_the_values_among_what_the_other_filters_pass(jobs):
    def menu(name, others="", person=jobs.ada):
        url = f"{PAGE}?format=values&filter={name}&{others}"
        items = jobs.client(person).get(url).json()["items"]
        return {item["label"]: (item["count"], item["url"], item["is_set"]) for item in items}

    people = menu("owner", "state=failed,running&owner=me")
    assert "You" not in people
    assert people[jobs.ada.display_name][0] == 2 and people[jobs.ben.display_name][0] == 1
    assert people[jobs.ben.display_name][1] == f"?state=failed,running&owner=me,{jobs.ben.email}"
    assert jobs.cyd.display_name not in people
    assert menu("gpu")["H100"] == (1, "?gpu=h100", False)
    assert menu("team", "q=llm")["Vision"][0] == 3
    assert jobs.client(jobs.ada).get(f"{PAGE}?format=values&filter=name").status_code == 400


def test_days_begin_at_midnight_of_the_reader(jobs):
    browser = jobs.client(jobs.ada)
    with org_scope(jobs.atlas.id), clock.frozen(datetime(2026, 11, 2, 20, tzinfo=UTC)):
        Job.objects.filter(number=1).update(created_at=datetime(2026, 11, 2, 14, 30, tzinfo=UTC))
        for zone, wanted in (("", set()), ("Asia/Seoul", {1}), ("nonsense", set())):
            browser.cookies["muster_zone"] = zone
            assert numbers(browser, f"{PAGE}?on=yesterday") == wanted


def test_api_refuses_parameters_of_the_page(jobs):
    api = jobs.api(jobs.ada)
    for name in ("columns", "nothing"):
        assert api.get(f"{API}?{name}=state").status_code == 400
    assert api.get(f"{API}?query=state:failed&state=running").status_code == 400


def test_columns_of_url_or_cookie_are_shown_and_in_the_file(jobs):
    browser = jobs.client(jobs.ada)
    shown = browser.get(f"{PAGE}?columns=team,priority,nonsense").context["list"]
    assert [str(head.label) for head in shown.heads] == ["Job", "State", "Team", "Priority"]
    assert shown.csv_url == "?columns=team,priority&format=csv"
    rows = list(csv.reader(io.StringIO(content(browser.get(PAGE + shown.csv_url)))))
    assert rows[0] == ["number", "name", "state", "team", "priority"]
    assert rows[1] == ["5", "vit-test", "queued", "vision", "normal"]
    browser.cookies["muster_columns_jobs"] = "team"
    assert set(browser.get(PAGE).context["list"].has) == {"number", "state", "team"}


def content(answer) -> str:
    return b"".join(answer.streaming_content).decode("utf-8-sig")


def test_file_begins_with_a_byte_order_mark_so_that_excel_reads_utf_8(jobs):
    answer = jobs.client(jobs.ada).get(f"{PAGE}?format=csv")
    assert b"".join(answer.streaming_content).startswith(b"\xef\xbb\xbfnumber,")


def test_suggestions_name_keys_and_values_of_the_own_organization(jobs):
    keys = {
        one["key"]: one for one in jobs.client(jobs.ada).get(f"{PAGE}?format=keys").json()["keys"]
    }
    assert {"state", "user", "team", "gpu", "name", "label"} <= set(keys)
    assert ["me", "You"] in keys["user"]["values"]
    assert [jobs.ben.email, jobs.ben.display_name] in keys["user"]["values"]
    assert jobs.cyd.email not in str(keys)
    assert ["h100", "H100"] in keys["gpu"]["values"]


def test_empty_list_says_how_to_begin_and_filtered_list_how_to_see_more(story):
    browser = story.client(story.ada)
    assert "muster run -- python train.py" in browser.get(PAGE).content.decode()
    filtered = browser.get(f"{PAGE}?state=failed").content.decode()
    assert "Clear a filter to see more." in filtered
