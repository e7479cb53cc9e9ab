"""A dataset goes by the command line from a folder into a job, on each kind of cluster."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_anywhere import api_of
from tests.rig.environment import ROOT
from tests.rig.kube import options_of
from tests.rig.portal import Portal

FILES = {"train/a b.bin": os.urandom(3 << 20), "train/한글.txt": b"1\n", "empty": b""}
LIST = 'cd "$MUSTER_INPUT_DATA" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum'
ATTACK = f"""{LIST}
chmod -R u+w . 2> /dev/null
(echo bad > "train/한글.txt") 2> /dev/null; cat "train/한글.txt"
"""


@pytest.fixture(scope="module")
def portal(embedded_portal: Portal) -> Portal:
    return embedded_portal


@pytest.fixture(scope="module")
def muster(portal: Portal, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Return `muster(*words)`: run the command in a folder whose `data` was uploaded twice."""
    folder = tmp_path_factory.mktemp("files")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUSTER_")}
    env = plain | {
        "PYTHONPATH": str(ROOT / "client"),
        "MUSTER_URL": portal.url,
        "MUSTER_TOKEN": portal.token(),
        "HOME": str(folder),
    }

    def call(*words: str, is_checked: bool = True) -> str:
        argv = [sys.executable, "-m", "muster", *words]
        done = subprocess.run(
            argv, cwd=folder, env=env, capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode == 0 or not is_checked, done.stderr
        return done.stdout + ("" if is_checked else done.stderr)

    for path, content in FILES.items():
        (folder / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "data" / path).write_bytes(content)
    call("dataset", "upload", "data", "signs", "-m", "First")
    call("dataset", "tag", "signs", "v1.2")
    (folder / "data" / "empty").write_bytes(b"later")
    call("dataset", "upload", "data", "signs", "-m", "Second")
    return call


def listing() -> str:
    rows = sorted((f"./{path}".encode(), content) for path, content in FILES.items())
    return "".join(f"{hashlib.sha256(c).hexdigest()}  {p.decode()}\n" for p, c in rows)


def test_job_on_this_machine_reads_tagged_version(portal, muster):
    log = muster("run", "--pool", "local", "--input", "data=signs@v1.2", "--", ATTACK)
    assert log.startswith(listing()) and log.splitlines()[3] == "1"
    [store] = (portal.home / "blobs" / "files").iterdir()
    name = hashlib.sha256(b"1\n").hexdigest()
    assert (store / name[:2] / name).read_bytes() == b"1\n"
    with api_of(portal) as api:
        [job] = api.get("/api/v1/orgs/home/jobs", params={"q": ""}).json()["items"][:1]
        found = api.get(f"/api/v1/orgs/home/jobs/{job['number']}").json()["inputs"]
    assert [(one["name"], one["repository"], one["version"]) for one in found] == [
        ("data", "signs", 1)
    ]
    refused = muster("run", "--input", "data=signs@v1.3", "--", "true", is_checked=False)
    assert "signs has no version v1.3. Its tags are v1.2." in refused


def connect(portal: Portal, name: str, backend: str, options: dict[str, Any]) -> None:
    with api_of(portal) as api:
        answer = api.post(
            "/api/v1/clusters", json={"name": name, "backend": backend, "options": options}
        )
        assert answer.is_success, answer.text


def connect_pods(portal: Portal) -> None:
    """Connect Kubernetes as `pods`, unless another file did."""
    with api_of(portal) as api:
        is_there = api.get("/api/v1/clusters/pods").is_success
    if not is_there:
        connect(portal, "pods", "kubernetes", {**options_of(), "shared": []})


def slurm_options(slurm, name: str) -> dict[str, Any]:
    spool = slurm.work / name
    spool.mkdir()
    spool.chmod(0o1777)
    return {"spool": str(spool), "user": slurm.user, "conf": str(slurm.conf)}


@pytest.mark.integration
def test_slurm_node_fetches_once_and_shares_its_cache(portal, muster, slurm):
    options = slurm_options(slurm, "fetching")
    connect(portal, "fetching", "slurm", options)
    for _ in range(2):
        log = muster("run", "--pool", "fetching", "--input", "data=signs@v1.2", "--", LIST)
        assert log == listing()
    [mine] = Path(options["spool"]).glob(".inputs-*")
    [tree] = [path for path in mine.iterdir() if path.is_dir()]
    assert all(not p.stat().st_mode & 0o222 for p in (tree, *tree.rglob("*")))
    assert [p.name for p in mine.iterdir() if p.name.startswith(".")] == []


@pytest.mark.integration
def test_slurm_reads_shared_data_folder_in_place(portal, muster, slurm):
    options = slurm_options(slurm, "shared") | {"data_folder": str(portal.home)}
    connect(portal, "shared", "slurm", options)
    for above in (portal.home, *portal.home.parents):
        if not above.stat().st_mode & 1:
            above.chmod(above.stat().st_mode | 1)  # the operator lets the jobs' user pass
    log = muster("run", "--pool", "shared", "--input", "data=signs", "--", f"{ATTACK}pwd")
    assert log.splitlines()[-1].startswith(f"{portal.home}/trees/")
    assert "1" in log.splitlines() and "bad" not in log.splitlines()
    assert not list(Path(options["spool"]).glob(".inputs*"))


@pytest.mark.integration
def test_slurm_job_and_portal_share_a_workspace(portal, muster, slurm):
    connect(portal, "unshared", "slurm", slurm_options(slurm, "unshared"))
    source = portal.folder.path / "src"
    source.mkdir()
    (source / "train.py").write_text("print('of the workspace')\n")
    muster("workspace", "create", "vision-code")
    muster("workspace", "upload", str(source), "vision-code")
    words = ("--workspace", "code=vision-code", "--")
    refused = muster("run", "--pool", "unshared", *words, "true", is_checked=False)
    assert "an operator can set `Workspaces` in its settings" in refused
    options = slurm_options(slurm, "sharing")
    connect(
        portal,
        "sharing",
        "slurm",
        options | {"workspaces_folder": str(portal.home / "workspaces")},
    )
    for above in (portal.home, *portal.home.parents):
        if not above.stat().st_mode & 1:
            above.chmod(above.stat().st_mode | 1)
    script = 'cd "$MUSTER_WORKSPACE_CODE" && python3 train.py && id -un > out/who'
    log = muster("run", "--pool", "sharing", *words, script.replace("id", "mkdir -p out; id"))
    assert log == "of the workspace\n"
    muster("workspace", "download", "vision-code", str(portal.folder.path / "back"))
    assert (portal.folder.path / "back" / "out" / "who").read_text().strip() == slurm.user
    muster("workspace", "rm", "vision-code:out", "--yes")  # which a job has made
    with api_of(portal) as api:
        number = api.get("/api/v1/orgs/home/jobs").json()["items"][0]["number"]
        [row] = api.get(f"/api/v1/orgs/home/jobs/{number}").json()["workspaces"]
    assert (row["name"], row["workspace"], row["read_only"]) == ("code", "vision-code", False)


@pytest.mark.integration
def test_slurm_array_on_several_nodes_fetches_once(portal, muster, slurm):
    options = slurm_options(slurm, "nodes")
    connect(portal, "nodes", "slurm", options)
    spec = {
        "run": f"{LIST} | wc -l",
        "num_nodes": 2,
        "inputs": {"data": "signs@v1.2"},
        "policy": {"pool": "nodes"},
    }
    file = portal.folder.path / "job.json"
    file.write_text(json.dumps(spec))
    number = json.loads(muster("job", "submit", str(file), "--json"))["number"]
    muster("job", "wait", str(number), "--timeout", "120")
    assert muster("job", "logs", str(number)) == "3\n3\n"


@pytest.mark.integration
def test_kubernetes_pod_fetches_before_it_starts(portal, muster):
    connect_pods(portal)
    log = muster("run", "--pool", "pods", "--input", "data=signs@v1.2", "--", LIST)
    assert log == listing()
    refused = muster(
        *("run", "--pool", "pods", "--input", "data=signs@v9", "--", "true"), is_checked=False
    )
    assert "signs has no version v9" in refused
    with lost_bytes(portal):
        said = muster(
            *("run", "--pool", "pods", "--input", "data=signs", "--", "true"), is_checked=False
        )
    assert "Fetching signs@2 failed: " in said and "missing from the disk" in said


@contextmanager
def lost_bytes(portal: Portal) -> Iterator[None]:
    """Take away the bytes of a file of the second version."""
    [store] = (portal.home / "blobs" / "files").iterdir()
    name = hashlib.sha256(b"later").hexdigest()
    path, aside = store / name[:2] / name, portal.home / "lost"
    path.rename(aside)
    try:
        yield
    finally:
        aside.rename(path)


@pytest.mark.integration
def test_failed_fetch_on_slurm_is_explained(portal, muster, slurm):
    connect(portal, "losing", "slurm", slurm_options(slurm, "losing"))
    with lost_bytes(portal):
        said = muster(
            *("run", "--pool", "losing", "--input", "data=signs", "--", "true"), is_checked=False
        )
    assert "Fetching signs@2 failed: " in said and "missing from the disk" in said
