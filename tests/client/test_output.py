"""Test tables on a terminal: width and colours."""

from __future__ import annotations

import io
import re

import pytest

from muster.output import Table, drawn


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")


def plain(text: str) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in text.splitlines()]


def test_table_flexible_column_is_cut_on_a_terminal():
    rows = [[f"#{n}", "running", "reason " * 40, "4 min ago"] for n in range(3)]
    shown = drawn(Table(["Job", "State", "~Why", ">Submitted"], rows), Terminal())
    assert all(len(line) <= 80 for line in plain(shown))
    assert all(
        "running" in line and "4 min ago" in line and "…" in line for line in plain(shown)[1:]
    )


def test_table_with_wraps_wraps_instead_of_cutting():
    words = [f"word{n}" for n in range(60)]
    shown = " ".join(
        plain(drawn(Table(["#1", "~name"], [["Why", " ".join(words)]], wraps=True), Terminal()))
    )
    assert [word for word in words if word not in shown.split()] == []


def test_table_states_are_coloured_unless_no_color(monkeypatch: pytest.MonkeyPatch):
    table = Table(["State"], [["failed"]])
    assert "\x1b[31mfailed" in drawn(table, Terminal())
    monkeypatch.delenv("FORCE_COLOR")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[31m" not in drawn(table, Terminal())


def test_table_in_a_pipe_is_aligned_without_trailing_spaces():
    assert drawn(Table(["Job", ">Ran"], [["#1", "4 s"], ["#100", "12 min"]]), io.StringIO()) == (
        "Job      Ran\n#1       4 s\n#100  12 min\n"
    )
