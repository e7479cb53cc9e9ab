"""A short storm over uploads; `python -m tests.storm.datasets` runs it longer."""

from __future__ import annotations

import pytest

from tests.rig.postgres import create_database
from tests.rig.processes import Folder
from tests.storm.datasets import DatasetStorm

pytestmark = [pytest.mark.storm, pytest.mark.integration]


def test_uploads_under_kills_and_collection_lose_nothing(tmp_path, postgres_url):
    folder = Folder()
    try:
        database = create_database(postgres_url, "dataset_storm")
        storm = DatasetStorm(folder, tmp_path, seed=3, seconds=60, grace=60, database_url=database)
        outcome = storm.run()
        print(outcome.text())
        assert outcome.faults == [], outcome.text()
        assert outcome.collections > 3 and outcome.kills.total() >= 3, outcome.text()
        assert all(outcome.commits[kind] for kind in ("cli", "xet", "lfs")), outcome.text()
    finally:
        folder.close()
