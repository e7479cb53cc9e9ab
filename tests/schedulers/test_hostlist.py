"""Test the expansion of Slurm's hostlists."""

from __future__ import annotations

from schedulers.slurm.hostlist import MOST, expand

LISTS = [
    ("", ()),
    ("n1", ("n1",)),
    ("n1,n2", ("n1", "n2")),
    ("n[1-3,7]", ("n1", "n2", "n3", "n7")),
    ("gpu[008-011]", ("gpu008", "gpu009", "gpu010", "gpu011")),
    ("gpu[1-2],cpu1,x[3]-ib", ("gpu1", "gpu2", "cpu1", "x3-ib")),
    ("r[1-2]n[1-2]", ("r1n1", "r1n2", "r2n1", "r2n2")),
    ("n[3-1]", ("n3-1",)),
    ("n[a-b]", ("na-b",)),
    ("n[1-2", ("n", "1-2")),
]


def test_expand_returns_names_in_order(subtests):
    for text, names in LISTS:
        with subtests.test(text=text, names=names):
            assert expand(text) == names


def test_expand_huge_list_is_truncated():
    assert len(expand("a[0-99]b[0-99]c[0-99]")) == MOST
    assert len(expand("a[0-999999999]")) == 1
