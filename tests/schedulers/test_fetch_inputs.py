"""Test the program that fetches inputs to nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedulers.programs.fetch_inputs import Failure, folder_of_user


def test_cache_that_others_could_have_filled_is_refused(tmp_path):
    mine = Path(folder_of_user(str(tmp_path / "cache")))
    assert mine.stat().st_mode & 0o777 == 0o700
    mine.chmod(0o777)
    with pytest.raises(Failure):
        folder_of_user(str(tmp_path / "cache"))
    mine.rmdir()
    mine.symlink_to(tmp_path)
    with pytest.raises(Failure):
        folder_of_user(str(tmp_path / "cache"))
