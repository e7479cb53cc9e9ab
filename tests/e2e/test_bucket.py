"""A portal whose files are in a bucket: commands, a job and a Hub client read and write them.

S3 is a double (moto), which accepts any signature.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from tests.e2e.test_inputs import ATTACK, FILES, listing, muster
from tests.rig.mlflow import python_of
from tests.rig.portal import Portal
from tests.rig.processes import Folder
from tests.rig.s3 import s3_double

__all__ = ["muster"]  # a fixture
pytestmark = pytest.mark.integration
HUB = """
import sys
from pathlib import Path
from huggingface_hub import HfApi, snapshot_download
HfApi().upload_file(repo_id="home/signs", repo_type="dataset", path_or_fileobj=b"hub" * 9_000_000,
                    path_in_repo="train/hub.bin")
found = Path(snapshot_download("home/signs", repo_type="dataset", local_dir=sys.argv[1]))
print({str(p.relative_to(found)): p.stat().st_size for p in found.glob("train/*")})
"""


@pytest.fixture(scope="module")
def bucket() -> Iterator[tuple[str, object]]:
    with s3_double() as (host, client):
        client.create_bucket(Bucket="muster")
        yield host, client


@pytest.fixture(scope="module")
def portal(bucket) -> Iterator[Portal]:
    folder = Folder()
    url = f"http://{bucket[0]}"
    keys = {"MUSTER_S3_ACCESS_KEY": "key", "MUSTER_S3_SECRET_KEY": "secret"}
    where = {"MUSTER_S3_BUCKET": "muster", "MUSTER_S3_ENDPOINT": url, "MUSTER_S3_PUBLIC_URL": url}
    made = Portal(folder, settings=keys | where, is_furnished=True)
    made.start()
    yield made
    made.stop()
    folder.close()


def test_job_and_clients_use_files_in_a_bucket(portal, muster, bucket, tmp_path):
    assert len(bucket[1].list_objects_v2(Bucket="muster")["Contents"]) == 4
    log = muster("run", "--pool", "local", "--input", "data=signs@v1.2", "--", ATTACK)
    assert log.startswith(listing()) and log.splitlines()[3] == "1"
    muster("dataset", "download", "signs@v1.2", str(tmp_path / "out"))
    for path, content in FILES.items():
        assert (tmp_path / "out" / path).read_bytes() == content
    env = {name: value for name, value in os.environ.items() if not name.startswith("HF_")} | {
        "HF_ENDPOINT": f"{portal.url}/hf",
        "HF_TOKEN": portal.token(),
        "HF_HOME": str(tmp_path / "hf"),
    }
    argv = [str(python_of("hf")), "-c", HUB, str(tmp_path / "hub")]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert "'train/hub.bin': 27000000" in done.stdout and "'train/a b.bin': 3145728" in done.stdout
    assert "valid" in portal.manage("fsck", "--deep")
