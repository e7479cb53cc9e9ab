"""The short storm; `make storm` runs the long one."""

from __future__ import annotations

import pytest

from tests.rig.processes import Folder
from tests.storm.storm import Storm

pytestmark = [pytest.mark.storm, pytest.mark.integration]


def test_hundred_submissions_under_kills_run_exactly_once(tmp_path):
    folder = Folder()
    try:
        outcome = Storm(folder, seed=7, submits=100, pace=1.5).run()
        assert outcome.faults == [], outcome.text()
        assert sum(outcome.kills.values()) >= 1
    finally:
        folder.close()
