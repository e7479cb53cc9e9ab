"""The short flood; `make storm` runs the long one: 10 GiB against a limit of 4 GiB."""

from __future__ import annotations

import pytest

from tests.rig.processes import Folder
from tests.storm.flood import Flood

pytestmark = pytest.mark.integration
MIB = 1 << 20


def test_oversized_log_keeps_its_first_bytes_and_records_one_gap(mode):
    folder = Folder()
    try:
        outcome = Flood(
            folder, size=64 * MIB + 12_345, limit=16 * MIB + 678, is_server=mode == "server"
        ).run()
        assert outcome.faults == [], outcome.text()
        assert "the log's size limit was reached" in outcome.certificate["text"]
    finally:
        folder.close()
