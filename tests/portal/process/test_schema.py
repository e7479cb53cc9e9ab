"""A database that this version does not know is refused in words, on both databases."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from portal.process.schema import check_history, check_schema
from portal.process.words import Refusal
from tests.rig import migrations

pytestmark = pytest.mark.both_databases


def test_schema_of_this_version_is_accepted(db):
    check_history()
    check_schema()


def test_schema_with_differences_names_each_and_what_to_do(db):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE core_lease RENAME COLUMN holder TO owner")
        cursor.execute("ALTER TABLE core_lease ADD COLUMN note text")  # needs no value
        cursor.execute("ALTER TABLE core_rememberedanswer RENAME TO forgotten")
    with pytest.raises(Refusal) as refused:
        check_schema()
    text = str(refused.value)
    assert "column core_lease.holder is missing" in text
    assert "column core_lease.owner is unknown and needs a value" in text
    assert "table core_rememberedanswer is missing" in text
    assert "note" not in text and "export what you need" in text


def test_history_of_edited_migrations_is_refused_in_words(db):
    applied = MigrationRecorder(connection)
    applied.record_unapplied("workspaces", "0001_initial")
    with pytest.raises(Refusal, match=r"(?s)before its dependency.*before 0\.1"):
        check_history()
    applied.record_applied("workspaces", "0001_initial_of_tuesday")
    with pytest.raises(Refusal, match=r"(?s)workspaces\.0001_initial_of_tuesday.*before 0\.1"):
        check_history()


def test_history_of_newer_version_is_refused_with_its_remedy(db):
    MigrationRecorder(connection).record_applied("jobs", "9999_later")
    with pytest.raises(Refusal, match=r"(?s)jobs\.9999_later\nA newer version of Muster"):
        check_history()


def test_migrations_that_landed_are_never_edited(tmp_path):
    folder = tmp_path / "app" / "migrations"
    folder.mkdir(parents=True)
    first, second = folder / "0001_initial.py", folder / "0002_more.py"
    first.write_text("one")
    assert migrations.record(tmp_path) == ["app/migrations/0001_initial.py"]
    assert migrations.faults(tmp_path) == []
    first.write_text("edited")
    second.write_text("two")
    assert [fault.partition(" ")[2].partition(".")[0] for fault in migrations.faults(tmp_path)] == [
        "was changed after it landed",
        "is new",
    ]
    migrations.record(tmp_path)
    assert len(migrations.faults(tmp_path)) == 1, "the command never replaces a hash"
    first.unlink()
    assert "was removed" in migrations.faults(tmp_path)[0]
    assert migrations.faults() == []
