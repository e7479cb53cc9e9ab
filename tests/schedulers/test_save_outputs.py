"""The program that saves outputs in a job, against a portal that is a double: it records requests."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from schedulers.programs import save_outputs
from schedulers.programs.save_outputs import SavedFolder


class Portal:
    """A double of the portal: it takes what fits into `room` bytes, and keeps the versions."""

    def __init__(self, room: int = 1 << 30):
        self.room, self.files, self.versions = room, {}, []

    def send(self, method, path, body=None, headers=None):
        if path.endswith("/versions"):
            self.versions.append(body)
            return {}, {"version": len(self.versions)}
        if method == "POST" and path.endswith("/contents"):
            return {}, {"items": [{"sha256": sha} for sha in body["sha256"] if sha in self.files]}
        if method == "PUT":
            sha = path.rpartition("=")[2]
            assert hashlib.sha256(body).hexdigest() == sha
            self.files[sha] = body
        return {}, {"kind": "checkpoint", "repository": "resnet", "room": self.room}

    def saved(self, key: str = "files") -> dict[str, bytes]:
        return {file["path"]: self.files[file["sha256"]] for file in self.versions[-1][key]}


@pytest.fixture
def output(tmp_path: Path) -> SavedFolder:
    return SavedFolder(Portal(), "atlas", "7", {"name": "ckpt", "every": 600}, str(tmp_path))


def test_file_replaced_while_it_is_looked_at_is_saved(output, tmp_path, monkeypatch):
    monkeypatch.setattr(save_outputs, "is_renamed", lambda *_: False)  # an old kernel's clock
    state = tmp_path / "state"
    state.write_text("one")
    now = os.stat(state).st_mtime
    assert not output.save(until=now)
    (tmp_path / "state.tmp").write_text("two")
    os.rename(tmp_path / "state.tmp", state)
    monkeypatch.setattr(save_outputs, "YOUNG", -1.0)
    changing = output.exchanged(["state"])
    assert changing["state"][0].read() == b"one"
    changing["state"][0].seek(0)
    output.save_files({}, ["state"], changing, {}, False)
    assert output.portal.saved() == {"state": b"one"}


def test_folder_deleted_while_it_is_looked_at_is_skipped(output, tmp_path, monkeypatch):
    def walk(folder, **options):
        for found in os.walk(folder, **options):
            if found[0].endswith("step-1"):
                shutil.rmtree(found[0])
            yield found

    for name in ("step-1", "step-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weights").write_text(name)
    monkeypatch.setattr(save_outputs, "os", SimpleNamespace(**{**vars(os), "walk": walk}))
    assert output.save()
    assert output.portal.saved() == {"step-2/weights": b"step-2"}


def test_large_file_is_refused_by_size_and_the_others_are_saved(output, tmp_path):
    output.portal.room = 1000
    with open(tmp_path / "huge.bin", "wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "small").write_text("small")
    (tmp_path / "latest").symlink_to("small")
    output.save(has_succeeded=True, is_end=True)
    assert output.portal.saved() == {"small": b"small"}
    note = output.portal.versions[-1]["note"]
    assert "room for 995 bytes, and it has 1,099,511,627,776: huge.bin." in note
    assert "link or not a regular file: latest." in note
    assert json.dumps(output.portal.versions)


def test_file_written_when_the_program_was_killed_is_sent_as_cut(output, tmp_path):
    (tmp_path / "weights").write_text("cut")
    (tmp_path / "config").write_text("{}")
    os.utime(tmp_path / "config", (1, 1))
    os.utime(tmp_path, (1, 1))
    output.save(until=os.stat(tmp_path / "weights").st_mtime, is_end=True)
    assert (output.portal.saved(), output.portal.saved("cut")) == (
        {"config": b"{}"},
        {"weights": b"cut"},
    )
