"""Keyset pages compared with a list: directions, orders, sizes, filters and permissions."""

from __future__ import annotations

import random

import pytest

from jobs.lists import JOBS
from jobs.models import Job
from portal.core.errors import InvalidInput
from portal.core.keyset import Order, Page, page_of
from schedulers.states import State
from tests.jobs.stage import cluster_with
from workspaces.tenancy.scope import org_scope

COUNT = 150


@pytest.fixture
def atlas(story):
    """Create 150 jobs of Ada and Ben in two teams, in every state, numbered with gaps."""
    cluster, chance = cluster_with(), random.Random(7)
    with org_scope(story.atlas.id):
        Job.objects.bulk_create(
            Job(
                org=story.atlas,
                number=n * 3,
                team=chance.choice([story.vision, story.speech]),
                cluster=cluster,
                owner=chance.choice([story.ada, story.ben]),
                name=f"job-{n % 7}",
                spec={"run": "true"},
                resources={"cpu": 1000},
                labels={"n": str(n % 5)},
                state=chance.choice(list(State)),
            )
            for n in range(1, COUNT + 1)
        )
        yield story


def page_at(actor, asked, *, limit=50, cursor="", ascending=False):
    order = Order("number", is_descending=not ascending)
    return page_of(JOBS.narrowed(actor, asked), order, limit=limit, cursor=cursor)


def walk(actor, asked, *, limit, ascending, backwards=False):
    """Return all pages, following their cursors."""
    cursor, pages = "", []
    while True:
        page = page_at(actor, asked, limit=limit, cursor=cursor, ascending=ascending)
        pages.append([job.number for job in page.items])
        cursor = page.previous if backwards else page.next
        if not cursor:
            return pages, page


FILTERS = [
    {},
    {"state": "queued,running"},
    {"team": "speech"},
    {"owner": "me"},
    {"owner": "ben@atlas.example"},
    {"name": "job-3"},
    {"q": "job-1"},
    {"label": "n:2"},
    {"label": "n:9"},
    {"state": "failed", "label": "n:0", "team": "vision,speech"},
]


@pytest.mark.both_databases
def test_paging_forwards_visits_each_job_once_in_order(subtests, atlas):
    for request in FILTERS:
        for who in ["ada", "ben"]:
            with subtests.test(asked=request, who=who):
                person = getattr(atlas, who)
                actor = atlas.actor(person)
                wanted = sorted(by_hand(atlas, person, request), reverse=True)
                for limit, ascending in (
                    (1 if len(wanted) < 12 else 17, False),
                    (50, True),
                    (100, False),
                ):
                    pages, _ = walk(actor, request, limit=limit, ascending=ascending)
                    assert sum(pages, []) == (wanted[::-1] if ascending else wanted)
                    assert all(len(page) == limit for page in pages[:-1])


def by_hand(story, person, asked) -> list[int]:
    """Return the numbers that the filters select, computed without the database."""

    def fits(job: Job) -> bool:
        key, _, value = asked.get("label", "").partition(":")
        owner = person.email if asked.get("owner") == "me" else asked.get("owner", job.owner.email)
        return (
            (person == story.ada or job.team == story.vision)
            and State(job.state).label in asked.get("state", State(job.state).label).split(",")
            and job.team.slug in asked.get("team", job.team.slug).split(",")
            and job.owner.email == owner
            and job.name == asked.get("name", job.name)
            and job.name.startswith(asked.get("q", ""))
            and (not key or job.labels.get(key) == value)
        )

    return [job.number for job in Job.objects.select_related("team", "owner") if fits(job)]


@pytest.mark.both_databases
def test_paging_backwards_visits_the_same_jobs(subtests, atlas):
    for ascending in [False, True]:
        for limit in [7, 60]:
            with subtests.test(ascending=ascending, limit=limit):
                actor = atlas.actor(atlas.ada)
                forwards, last = walk(actor, {}, limit=limit, ascending=ascending)
                cursor, back = last.previous, []
                while cursor:
                    page = page_at(
                        actor,
                        {},
                        limit=limit,
                        cursor=cursor,
                        ascending=ascending,
                    )
                    back.insert(0, [job.number for job in page.items])
                    assert page.next is not None
                    cursor = page.previous
                assert sum(back, []) + forwards[-1] == sum(forwards, [])


def test_first_page_has_no_previous_and_last_page_no_next(atlas):
    actor = atlas.actor(atlas.ada)
    first = page_at(actor, {}, limit=10)
    assert (first.previous, len(first.items)) == (None, 10)
    _, last = walk(actor, {}, limit=200, ascending=False)
    assert last.next is None
    assert page_at(actor, {"name": "nothing"}) == Page([])


def test_jobs_added_or_removed_between_pages_move_no_other_job(atlas):
    actor = atlas.actor(atlas.ada)
    first = page_at(actor, {}, limit=10)
    Job.objects.filter(id=first.items[-1].id).delete()
    second = page_at(actor, {}, limit=10, cursor=first.next)
    assert second.items[0].number == first.items[-1].number - 3


NO_CURSORS = ["x1", "n", "n-1", "n1.5", "1", "n" + "9" * 19, "N5", "n5 "]


def test_unknown_cursor_is_refused(subtests, atlas):
    for cursor in NO_CURSORS:
        with subtests.test(cursor=cursor):
            with pytest.raises(InvalidInput, match="cursor"):
                page_at(atlas.actor(atlas.ada), {}, cursor=cursor)


def test_page_size_is_at_most_two_hundred_and_at_least_one():
    assert JOBS.read({"limit": "10000"}).limit == 200
    with pytest.raises(InvalidInput, match="limit"):
        JOBS.read({"limit": "0"})


def test_page_takes_one_query_at_any_position(atlas, django_assert_num_queries):
    actor = atlas.actor(atlas.ada)
    for cursor in ("", "n1200", "p300", "n4"):
        with django_assert_num_queries(1):
            page_at(actor, {}, cursor=cursor)


def test_search_takes_wildcards_literally(atlas):
    actor = atlas.actor(atlas.ada)
    for q in ("%", "_ob", "job\\", "job_"):
        assert page_at(actor, {"q": q}).items == []
