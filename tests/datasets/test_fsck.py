"""`manage.py fsck` finds what is damaged or missing, and changes nothing."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from datasets import services
from datasets.checking import check_repository
from datasets.models import Block, Content, Repository
from portal.blobs.store import file_store
from tests.datasets.conftest import commit
from workspaces.tenancy.scope import no_scope

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def fsck(*words: str) -> tuple[int, str]:
    """Return exit status and output."""
    out = StringIO()
    with no_scope():
        try:
            call_command("fsck", *words, stdout=out)
        except SystemExit as end:
            return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_fsck_reports_orphans_of_a_valid_repository(stage):
    commit(stage.ben, stage.cifar, {"a": b"one", "b": b"two"})
    commit(stage.ben, stage.cifar, {"a": b"1", "c/d": b""})
    services.put_file(actor=stage.ben, repository=stage.cifar, chunks=[b"not committed"])
    file_store().put(stage.cifar.org_id, [b"of nobody"])
    status, text = fsck("--deep")
    assert status == 0
    assert "atlas/datasets/cifar: valid; 2 versions, 4 files, 7 B" in text
    assert "0 blocks and 1 contents (13 B) that no version names" in text
    assert "atlas: 1 files (9 B) that nothing refers to" in text
    assert Content.objects.count() == 5


def test_fsck_finds_each_kind_of_damage(stage):
    version = commit(stage.ben, stage.cifar, {"a": b"one", "b": b"two", "c": b"three"})
    store, org_id = file_store(), stage.cifar.org_id
    files = {row.size: store.path(org_id, row.sha256) for row in Content.objects.all()}
    three = files[5]
    three.write_bytes(b"THREE")
    assert fsck()[0] == 0  # only --deep reads the bytes
    status, text = fsck("--deep", "--repository", "cifar")
    assert (status, "other bytes than its SHA-256" in text) == (2, True)
    three.write_bytes(b"cut")
    assert "has 3 bytes instead of 5" in fsck()[1]
    three.unlink()
    Content.objects.filter(size=3).first().delete()
    Repository.objects.filter(id=stage.cifar.id).update(stored_bytes=1)
    found = check_repository(stage.cifar)
    assert [fault.kind for fault in found.faults] == ["content", "file", "quota"]
    block = Block.objects.get()
    Block.objects.filter(id=block.id).update(data=bytes(block.data)[:-1])
    assert "other bytes than its digest" in fsck("--org", "atlas")[1]
    Block.objects.all().delete()
    status, text = fsck()
    assert (status, f"version {version.number}, block" in text) == (2, True)
