"""A short storm over uploads; `python -m tests.storm.datasets` runs it longer."""

from __future__ import annotations

import pytest

from tests.rig.processes import Folder
from tests.storm.datasets import DatasetStorm

pytestmark = [pytest.mark.storm, pytest.mark.integration]


def test_uploads_under_kills_and_collection_lose_nothing(tmp_path):
    folder = Folder()
    try:
        outcome = DatasetStorm(folder, tmp_path, seed=3, seconds=40, grace=60).run()
        print(outcome.text())
        assert outcome.faults == [], outcome.text()
        assert outcome.collections > 3 and outcome.kills.total() >= 3, outcome.text()
        assert all(outcome.commits[kind] for kind in ("cli", "xet", "lfs")), outcome.text()
    finally:
        folder.close()
