"""Row-level security hides rows from views that bypass the tenant scope.

SQLite has none; tests that also run there use `HAS_WALL` for the differences.
"""

from __future__ import annotations

import threading

import pytest
from django.db import DatabaseError, connection, models, transaction
from django.http import JsonResponse
from django.urls import path

from portal.core import clock
from portal.core.bulk import insert_rows
from portal.core.ids import uuid7
from portal.core.postgres.row_security import ROLE
from workspaces.models import Team
from workspaces.tenancy import row_security
from workspaces.tenancy.scope import no_scope, org_scope, platform_scope, request_scope

HAS_WALL = connection.vendor == "postgresql"
ALL, OF_BOREALIS, OF_ATLAS = ["north", "speech", "vision"], ["north"], ["speech", "vision"]


def by_sql() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT slug FROM workspaces_team ORDER BY slug")
        return [slug for (slug,) in cursor.fetchall()]


def by_forgetful_orm() -> list[str]:
    return sorted(models.QuerySet(Team).values_list("slug", flat=True))


def read_and_roll_back() -> None:
    with transaction.atomic():
        by_sql()
        transaction.set_rollback(True)


def broken_view(request):
    """A faulty view that reads rows without the scope, by SQL and by a plain queryset."""
    return JsonResponse({"sql": by_sql(), "orm": by_forgetful_orm()})


urlpatterns = [path("<slug:org>/broken/", broken_view), path("broken/", broken_view)]


@pytest.mark.both_databases
def test_faulty_view_shows_no_rows_of_other_organization(story, settings):
    settings.ROOT_URLCONF = __name__
    seen = story.client(story.cyd).get("/borealis/broken/").json()
    assert (
        seen == {"sql": OF_BOREALIS, "orm": OF_BOREALIS} if HAS_WALL else {"sql": ALL, "orm": ALL}
    )


def test_faulty_view_outside_organization_shows_no_rows(story, settings):
    settings.ROOT_URLCONF = __name__
    seen = story.client(story.cyd).get("/broken/").json()
    assert seen == {"sql": [], "orm": []}


def test_platform_scope_sees_all_rows(story):
    with platform_scope("test"):
        assert by_sql() == ALL


def test_row_security_follows_nested_scopes(story):
    with org_scope(story.atlas.id):
        first = by_sql()
        with org_scope(story.borealis.id):
            inner = by_sql()
        assert (first, inner, by_sql()) == (OF_ATLAS, OF_BOREALIS, OF_ATLAS)


def test_streamed_rows_keep_scope_of_their_start(story):
    with transaction.atomic(), platform_scope("test"):
        first, *rest = steadily(lambda: read_in_scope(story.borealis))
        assert [first, *rest] == ALL
    with transaction.atomic(), org_scope(story.borealis.id):
        assert steadily(read_everything) == OF_BOREALIS


def steadily(meanwhile) -> list[str]:
    """Read with a named cursor that fetches one row at a time."""
    found = []
    for slug in (
        models.QuerySet(Team).order_by("slug").values_list("slug", flat=True).iterator(chunk_size=1)
    ):
        found.append(slug)
        meanwhile()
    return found


def read_in_scope(org) -> None:
    with org_scope(org.id):
        assert by_sql() == OF_BOREALIS


def read_everything() -> None:
    with platform_scope("test"):
        assert by_sql() == ALL


@pytest.mark.django_db(transaction=True)
def test_scope_is_set_again_after_rollback():
    from tests.story import create_story

    story = create_story()
    with org_scope(story.atlas.id):
        by_sql()
    with org_scope(story.borealis.id):
        read_and_roll_back()
        assert by_sql() == OF_BOREALIS
        with pytest.raises(DatabaseError), connection.cursor() as cursor:
            cursor.execute("SELECT no_such_column FROM workspaces_team")
        assert by_sql() == OF_BOREALIS


def test_scope_is_set_again_after_savepoint_rollback(story):
    with org_scope(story.atlas.id):
        by_sql()
    with org_scope(story.borealis.id):
        read_and_roll_back()
    with org_scope(story.borealis.id):
        assert by_sql() == OF_BOREALIS


@pytest.mark.django_db(transaction=True)
def test_scope_is_separate_per_thread():
    from tests.story import create_story

    story, seen = create_story(), {}

    def look(org):
        with org_scope(org.id):
            seen[org.slug] = by_sql()
        connection.close()

    threads = [threading.Thread(target=look, args=[org]) for org in (story.atlas, story.borealis)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"atlas": OF_ATLAS, "borealis": OF_BOREALIS}


def test_sql_cannot_write_rows_of_other_organization(story):
    sql = [
        "UPDATE workspaces_team SET name = 'Mine' WHERE slug = 'north'",
        "DELETE FROM workspaces_teammembership",
    ]
    with org_scope(story.atlas.id), connection.cursor() as cursor, transaction.atomic():
        cursor.execute(sql[0])
        assert cursor.rowcount == 0
        cursor.execute(sql[1])
    with platform_scope("test"), connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM workspaces_teammembership")
        assert cursor.fetchone() == (1,)  # Cyd's, in north


def test_sql_cannot_move_row_to_other_organization(story):
    team = Team(id=uuid7(), org=story.borealis, slug="trojan", name="Trojan")

    def write():
        with transaction.atomic():
            models.QuerySet(Team).bulk_create([team])

    with org_scope(story.atlas.id):
        with pytest.raises(DatabaseError, match="row-level security"):
            write()


@pytest.mark.both_databases
def test_insert_rows_into_protected_table_succeeds(story):
    with org_scope(story.atlas.id):
        names = ("id", "org", "slug", "name", "created_at", "job_rules")
        insert_rows(
            Team,
            names,
            [(uuid7(), story.atlas.id, f"t{n}", f"T{n}", clock.now(), {}) for n in range(3)],
        )
        assert Team.objects.filter(slug__startswith="t").count() == 3


_WITH_ORG = """
SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity,
       EXISTS (SELECT FROM pg_policies p WHERE p.schemaname = n.nspname AND p.tablename = c.relname AND p.cmd = 'ALL'
               AND p.qual LIKE '%%muster.org%%')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id' AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p')
"""


@pytest.mark.both_databases
def test_tenant_tables_have_row_level_security(db):
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        with_org = {
            t
            for t in tables
            if any(
                c.name == "org_id"
                for c in connection.introspection.get_table_description(cursor, t)
            )
        }
        assert {"core_event", "series_series", "workspaces_provider", "workspaces_team"} < with_org
        assert set(row_security.tables()) == with_org
        if HAS_WALL:
            cursor.execute(_WITH_ORG)
            assert {row[0]: row[1:] for row in cursor.fetchall()} == dict.fromkeys(
                with_org, (True, True, True)
            )


def events_by_sql() -> set[object]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT org_id FROM core_event WHERE kind = 'team.created'")
        return {org_id for (org_id,) in cursor.fetchall()}


def test_events_of_other_organization_are_invisible_and_immutable(story):
    with request_scope():
        assert events_by_sql() == set()
        with org_scope(story.borealis.id), connection.cursor() as cursor:
            assert events_by_sql() == {story.borealis.id}
            cursor.execute(
                "UPDATE core_event SET actor = actor WHERE org_id IS DISTINCT FROM %s",
                [story.borealis.id],
            )
            assert cursor.rowcount == 0


def test_table_without_policy_is_detected_and_repaired(db):
    connection.disable_row_security()
    try:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE workspaces_team DISABLE ROW LEVEL SECURITY")
            cursor.execute("DROP POLICY muster_org_3 ON workspaces_secret")
        assert row_security.unprotected_tables(connection) == [
            "workspaces_secret",
            "workspaces_team",
        ]
        row_security.protect(connection)
        assert row_security.unprotected_tables(connection) == []
    finally:
        connection.enable_row_security()


def test_portal_role_cannot_bypass_row_security(db):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
        )
        assert cursor.fetchone() == (ROLE, False, False)


def test_setting_scope_takes_no_extra_query(story, django_assert_num_queries):
    with no_scope():
        by_sql()
    with org_scope(story.atlas.id), django_assert_num_queries(1):
        by_sql()
