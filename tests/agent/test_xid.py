from __future__ import annotations

import pytest

from muster_agent.xid import TABLE, UNKNOWN, Xids, read_table


@pytest.mark.parametrize("code", [48, 63, 64, 74, 79, 94, 95])
def test_errors_of_the_hardware_ask_for_a_drain(code):
    assert Xids().explain(code)["action"] == "drain"


@pytest.mark.parametrize("code", [13, 31, 43, 45])
def test_errors_of_the_program_are_the_programs_fault(code):
    assert Xids().explain(code)["action"] == "program"


def test_every_row_has_a_meaning_and_a_known_action():
    rows = read_table(TABLE)
    assert len(rows) >= 15
    assert all(row["meaning"] != UNKNOWN["meaning"] for row in rows.values())
    assert {row["action"] for row in rows.values()} == {"drain", "program", "watch"}


def test_a_code_that_nobody_knows_is_still_explained():
    assert Xids().explain(4711) == UNKNOWN


def test_a_sites_own_table_is_laid_over_ours(tmp_path, monkeypatch):
    site = tmp_path / "xid.toml"
    site.write_text('[31]\nmeaning = "our broken riser"\naction = "drain"\n')
    monkeypatch.setenv("MUSTER_XID_TABLE", str(site))
    assert Xids().explain(31) == {"meaning": "our broken riser", "action": "drain"}
    assert Xids().explain(79)["action"] == "drain"


@pytest.mark.parametrize("text", ["[", "[x]\na=1\n", "31 = 5\n"])
def test_a_broken_site_table_leaves_ours_as_it_is(tmp_path, text):
    site = tmp_path / "xid.toml"
    site.write_text(text)
    assert Xids(site).explain(79)["meaning"] == "the GPU has fallen off the bus"
