from __future__ import annotations

import pytest

from muster_agent.xid import TABLE, UNKNOWN, Xids, read_table


@pytest.mark.parametrize("code", [46, 48, 64, 74, 79, 95, 109, 140, 157])
def test_xid_hardware_error_suggests_a_drain(code):
    assert Xids().explain(code)["action"] == "drain"


@pytest.mark.parametrize("code", [13, 31, 43, 45, 137])
def test_xid_application_error_blames_the_program(code):
    assert Xids().explain(code)["action"] == "program"


def test_xid_rows_have_a_meaning_and_a_known_action():
    rows = read_table(TABLE)
    assert len(rows) >= 15
    assert all(row["meaning"] != UNKNOWN["meaning"] for row in rows.values())
    assert {row["action"] for row in rows.values()} == {"drain", "program", "watch"}


def test_xid_unknown_code_has_an_explanation():
    assert Xids().explain(4711) == UNKNOWN


def test_xid_site_table_overrides_the_built_in_rows(tmp_path, monkeypatch):
    site = tmp_path / "xid.toml"
    site.write_text('[31]\nmeaning = "our broken riser"\naction = "drain"\n')
    monkeypatch.setenv("MUSTER_XID_TABLE", str(site))
    assert Xids().explain(31) == {"meaning": "our broken riser", "action": "drain"}
    assert Xids().explain(79)["action"] == "drain"


@pytest.mark.parametrize("text", ["[", "[x]\na=1\n", "31 = 5\n"])
def test_xid_invalid_site_table_is_ignored(tmp_path, text):
    site = tmp_path / "xid.toml"
    site.write_text(text)
    assert Xids(site).explain(79)["meaning"] == "the GPU has fallen off the bus"
