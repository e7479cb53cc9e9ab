"""Files of datasets in a bucket: stored, downloaded, prepared for jobs, checked and deleted.

S3 is a double (moto), which accepts any signature.
"""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from django.core.management import call_command

from datasets import services, staging
from datasets.models import Content
from experiments.tasks import sweep_artifacts
from portal.blobs import files
from portal.core import clock
from schedulers.programs import portal_api
from tests.datasets.conftest import commit
from tests.datasets.test_api import CIFAR, send
from tests.rig.s3 import s3_double
from workspaces.tenancy.scope import no_scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def bucket(settings):
    """Keep files in a bucket; yield a function that returns its keys, and a client."""
    with s3_double() as (host, client):
        client.create_bucket(Bucket="muster")
        settings.MUSTER_S3_BUCKET, settings.MUSTER_S3_PREFIX = "muster", "files"
        settings.MUSTER_S3_ENDPOINT = f"http://{host}"
        settings.MUSTER_S3_ACCESS_KEY = settings.MUSTER_S3_SECRET_KEY = "key"

        def keys() -> list[str]:
            found = client.list_objects_v2(Bucket="muster").get("Contents", [])
            return [row["Key"] for row in found]

        yield keys, client


def test_dataset_is_stored_downloaded_prepared_checked_and_deleted(stage, bucket, settings):
    keys, client = bucket
    data = {"a b.txt": b"hello", "train/한.bin": b"\0" * 70_000, "empty": b""}
    version = commit(stage.ben, stage.cifar, data)
    org = stage.cifar.org_id.hex
    assert len(keys()) == 3 and all(key.startswith(f"files/{org}/") for key in keys())
    root = Path(settings.MUSTER_HOME)
    assert not [path for path in root.glob(f"blobs/s3/{org}/incoming/*")]

    api, url = stage.story.api(stage.story.ben), f"{CIFAR}/files/main/a%20b.txt"
    assert b"".join(send(api, "GET", url)) == b"hello"
    assert b"".join(send(api, "GET", url, status=206, Range="bytes=1-2")) == b"el"
    settings.MUSTER_S3_PUBLIC_URL = settings.MUSTER_S3_ENDPOINT
    assert b"".join(send(api, "GET", url, Sec_Fetch_Dest="empty")) == b"hello"  # a script
    moved = send(api, "GET", url, status=302)
    with urlopen(Request(moved["Location"], headers={"Range": "bytes=1-2"})) as answer:
        assert answer.read() == b"el"
        assert answer.headers["Content-Disposition"] == 'attachment; filename="a b.txt"'
    with portal_api.redirected(moved["Location"], {"Authorization": "secret"}) as answer:
        assert answer.read() == b"hello"

    tree = root / staging.materialize(version)
    found = {str(p.relative_to(tree)): p.read_bytes() for p in tree.rglob("*") if p.is_file()}
    assert found == data
    assert fsck() == ""
    damaged = files.file_name(stage.cifar.org_id, Content.objects.get(size=5).sha256)
    client.put_object(Bucket="muster", Key=f"files/{damaged}", Body=b"HELLO")
    assert "other bytes than its SHA-256" in fsck()
    client.delete_object(Bucket="muster", Key=f"files/{damaged}")
    assert "is missing" in fsck()

    services.put_file(actor=stage.ben, repository=stage.cifar, chunks=[b"hello"])
    assert fsck() == ""
    deleted = services.delete_repository(actor=stage.ben, repository=stage.cifar)
    services.purge_repository(actor=stage.ada, repository=deleted)
    sweep_artifacts()
    assert len(keys()) == 3
    with clock.frozen(clock.now() + timedelta(days=2)):
        sweep_artifacts()
    assert keys() == []


def fsck() -> str:
    """Return the faults."""
    out = StringIO()
    with no_scope():
        try:
            call_command("fsck", "--deep", stdout=out)
        except SystemExit:
            return out.getvalue()
    return ""
