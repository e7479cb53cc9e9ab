"""`muster` in terminals of other encodings, on a full disk, and with streams that are closed.

Each case is a process of its own, because the interpreter chooses the encoding at its start.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.client.portal_double import TOKEN, PortalDouble
from tests.rig.environment import ROOT

NAME = "학습 – μ 🚀"


@pytest.fixture
def environment(portal: PortalDouble, tmp_path) -> dict[str, str]:
    portal.add_job(name=NAME)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("MUSTER_", "PYTHON"))}
    return inherited | {
        "PYTHONPATH": str(ROOT / "client"),
        "MUSTER_URL": portal.url,
        "MUSTER_TOKEN": TOKEN,
        "MUSTER_CONFIG": str(tmp_path / "config.toml"),
    }


def run(environment, *words, **more):
    return subprocess.run(
        [sys.executable, "-m", "muster", *words],
        check=False,
        **{"env": environment, "capture_output": True, "timeout": 60, **more},
    )


ENCODINGS = [
    ("latin-1", {"PYTHONIOENCODING": "latin-1"}, b"\\ud559"),
    ("cp949", {"PYTHONIOENCODING": "cp949"}, NAME[:2].encode("cp949")),
    ("LANG=C", {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, b"\\ud559"),
    ("utf-8", {"PYTHONUTF8": "1"}, NAME.encode()),
]


def test_names_are_shown_in_every_encoding_and_json_stays_json(environment, tmp_path, subtests):
    spec = tmp_path / "job.yaml"
    spec.write_text(f'name: {NAME}\nrun: "true"\n', encoding="utf-8")
    for name, settings, shown in ENCODINGS:
        with subtests.test(name=name):
            listed = run(environment | settings, "job", "list")
            assert (listed.returncode, listed.stderr) == (0, b"")
            assert shown in listed.stdout
            data = run(environment | settings, "job", "list", "--json")
            assert json.loads(data.stdout)["items"][0]["name"] == NAME
            helped = run(environment | settings, "--help")
            assert (helped.returncode, b"Traceback" in helped.stderr) == (0, False)
            missing = run(environment | settings, "job", "submit", str(tmp_path / f"{NAME}.yaml"))
            assert (missing.returncode, b"Traceback" in missing.stderr) == (2, False)


def test_full_disk_and_closed_streams_end_in_one_sentence(environment, tmp_path, subtests):
    with open("/dev/full", "wb") as full, subtests.test(case="full disk"):
        done = run(environment, "job", "list", capture_output=False, stdout=full, stderr=-1)
        assert done.returncode == 1
        assert done.stderr == b"Error: No space left on device. The output is incomplete.\n"
    read, write = os.pipe()
    os.close(read)
    for words, code in ((("job", "list"), 141), (("--help",), 1)):  # the second is Click's
        with subtests.test(case="closed pipe", words=words):
            done = run(environment, *words, capture_output=False, stdout=write, stderr=-1)
            assert (done.returncode, done.stderr) == (code, b"")
    os.close(write)
    with subtests.test(case="no output at all"):
        closed = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "muster", "job", "list"]
        done = subprocess.run(closed, env=environment, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")


def test_text_in_another_encoding_is_refused_in_words(environment, tmp_path):
    spec = tmp_path / "job.yaml"
    spec.write_bytes("name: 학습\n".encode("cp949"))
    done = run(environment, "job", "submit", str(spec))
    assert done.returncode == 2
    assert b"byte 7 is not UTF-8. Save the file as UTF-8" in done.stderr
