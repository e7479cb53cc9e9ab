"""A home that was copied is recognized, and one that was moved is not taken for a copy."""

from __future__ import annotations

import fcntl
import json
import platform
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from portal.core import clock
from portal.core.models import Lease
from portal.process import home_place
from portal.process.home_place import FILE, adopt, check_place
from portal.process.words import Refusal


@pytest.fixture
def original(tmp_path: Path) -> Path:
    home = tmp_path / "var"
    home.mkdir()
    (home / "home_id").write_text("one")
    (home / "portal.lock").touch()
    check_place(home)
    return home


def copy_of(home: Path, name: str = "copy") -> Path:
    return shutil.copytree(home, home.with_name(name))


def elsewhere(home: Path) -> None:
    """Let the record of a home name another machine."""
    known = json.loads((home / FILE).read_text())
    (home / FILE).write_text(json.dumps({**known, "machine": "another", "inode": 0}))


def test_copy_beside_its_original_is_refused_until_adopted(original):
    copy = copy_of(original)
    with pytest.raises(Refusal, match=rf"{copy}, is a copy of {original}, which is still there\."):
        check_place(copy)
    check_place(original)
    with (original / "portal.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(Refusal, match="still there and runs"):
            check_place(copy)
        with pytest.raises(Refusal, match=f"runs on {original}"):
            adopt(copy)
    adopt(copy)
    check_place(copy)
    with pytest.raises(Refusal, match=f"copied to {copy}, which was adopted"):
        check_place(original)
    adopt(original)
    check_place(original)
    with pytest.raises(Refusal, match=f"copied to {original}"):
        check_place(copy)


def test_copy_of_home_without_record_is_known_by_its_database(original):
    (original / FILE).unlink()
    copy = copy_of(original)
    last = f"{original} on {platform.node()}"
    with pytest.raises(Refusal, match=f"is a copy of {original}"):
        check_place(copy, last)
    check_place(original, last)
    shutil.rmtree(original)
    check_place(copy, last)


def test_moved_home_starts(original):
    renamed = original.rename(original.with_name("renamed"))
    check_place(renamed)
    copied = copy_of(renamed)
    shutil.rmtree(renamed)
    check_place(copied)
    shutil.rmtree(copied)
    copied.mkdir()
    check_place(copied)  # a new home in the place of the former one


def test_copy_from_another_machine_is_refused_while_its_leases_are_recent(
    original, db, monkeypatch
):
    monkeypatch.setattr(home_place, "_has_its_database", lambda: True)
    lease = Lease.objects.create(name="watcher", holder="x", until=clock.now())
    elsewhere(original)
    with pytest.raises(Refusal, match="made while a\nportal ran there"):
        check_place(original)
    Lease.objects.filter(pk=lease.pk).update(until=clock.now() - timedelta(minutes=3))
    check_place(original)
