"""The serving database role is not the migrating one (MUSTER_MIGRATE_DATABASE_URL)."""

from __future__ import annotations

from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest

from tests.rig.portal import Portal
from tests.rig.postgres import create_database
from tests.rig.tables import furnish


def test_serving_role_owns_nothing_and_cannot_disable_row_security(rig, postgres_url):
    owner = create_database(postgres_url, "roles")
    serving = f"serving_{uuid4().hex[:8]}"
    url = f"postgres://{serving}:secret@{urlsplit(owner).netloc.rpartition('@')[2]}{urlsplit(owner).path}"
    portal = Portal(rig, database_url=owner, redis_url="redis://127.0.0.1:1/0", name=serving)
    furnish(portal.home, owner, portal.environment)
    portal.database_url, portal.settings = url, {"MUSTER_MIGRATE_DATABASE_URL": owner}
    portal.manage("serve", "--only", "prepare")
    with psycopg.connect(url, autocommit=True) as connection:
        count = "SELECT count(*) FROM core_event"
        assert connection.execute("SELECT count(*) FROM workspaces_user").fetchone() == (1,)
        assert connection.execute(count).fetchone() == (0,)
        for statement in (
            "ALTER TABLE core_event DISABLE ROW LEVEL SECURITY",
            "DROP POLICY muster_org_4 ON core_event",
            "TRUNCATE core_event",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
        connection.execute("SET muster.org = 'ffffffff-ffff-ffff-ffff-ffffffffffff'")
        assert connection.execute(count).fetchone() > (0,)
