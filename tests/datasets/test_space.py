"""Test what takes the space and what nothing refers to, and that deleting it keeps the rest."""

from __future__ import annotations

from datetime import timedelta

import pytest

from datasets import references, services
from datasets.models import Content, Upload, Version
from portal.core import clock
from portal.core.errors import Conflict
from tests.datasets.conftest import commit
from workspaces.models import Quota

pytestmark = pytest.mark.django_db
API = "/api/v1/orgs/atlas"


def put(stage, data: bytes):
    return services.put_file(actor=stage.ben, repository=stage.cifar, chunks=[data])


def test_space_says_what_bytes_are_for(stage, monkeypatch):
    commit(stage.ben, stage.cifar, {"same": b"1" * 10, "x": b"2" * 100})
    second = commit(stage.ben, stage.cifar, {"x": b"3" * 1000})
    commit(stage.ben, stage.cifar, {"x": b"4" * 10_000})
    commit(stage.ben, stage.cifar, {"x": b"5" * 100_000})
    services.set_tag(actor=stage.ben, repository=stage.cifar, name="v1", version=second)
    put(stage, b"6" * 7)
    services.start_upload(actor=stage.ben, repository=stage.cifar, size=50)
    stage.cifar.refresh_from_db()
    found = services.space_of(stage.cifar)
    assert (found.stored, found.current, found.old) == (111_117, 101_010, 10_100)
    assert (found.unnamed, found.unnamed_files, found.uploads) == (7, 1, 1)
    assert found.unreferenced == [1, 3] and found.versions == 4
    first = Version.objects.get(number=1).id
    monkeypatch.setattr(references, "providers", lambda: [lambda ids: {first} & set(ids)])
    assert services.space_of(stage.cifar).unreferenced == [3]
    plan = services.plan(stage.cifar, keep_last=1, keep_days=0)
    assert ([row.number for row in plan.versions], plan.bytes) == ([3, 1], 10_100)


def test_discarding_unused_frees_quota_and_keeps_recent_uploads(stage):
    version = commit(stage.ben, stage.cifar, {"x": b"kept"})
    put(stage, b"old unnamed")
    services.start_upload(actor=stage.ben, repository=stage.cifar, size=5)
    assert services.discard_unused(actor=stage.ben, repository=stage.cifar) == 0
    old = clock.now() - timedelta(hours=2)
    Content.objects.filter(is_used=False).update(created_at=old)
    Upload.objects.update(updated_at=old)
    put(stage, b"new unnamed")
    services.update_repository(actor=stage.ada, repository=stage.cifar, legal_hold="case 7")
    with pytest.raises(Conflict):
        services.discard_unused(actor=stage.ben, repository=stage.cifar)
    services.update_repository(actor=stage.ada, repository=stage.cifar, legal_hold="")
    assert services.discard_unused(actor=stage.ben, repository=stage.cifar) == 11
    assert Content.objects.count() == 2 and not Upload.objects.exists()
    team = Quota.objects.get(subject_id=stage.story.vision.id, resource="storage")
    assert team.used == 4 + 11
    assert version.files == 1


def test_storage_lists_largest_and_unused_of_visible_teams(stage):
    story, vision = stage.story, stage.story.vision
    commit(stage.ben, stage.cifar, {"x": b"1" * 100})
    commit(stage.ben, stage.cifar, {"x": b"2" * 10})
    hushed = services.create_repository(
        actor=stage.ada, team=story.speech, kind="checkpoint", name="hushed"
    )
    commit(stage.ada, hushed, {"x": b"1" * 1000})
    gone = services.create_repository(actor=stage.ben, team=vision, kind="dataset", name="gone")
    commit(stage.ben, gone, {"x": b"1" * 5})
    services.delete_repository(actor=stage.ben, repository=gone)
    ada = story.api(story.ada).get(f"{API}/storage/use").json()
    assert [(row["title"], row["bytes"]) for row in ada["largest"]] == [
        ("hushed", 1000),
        ("cifar", 110),
    ]
    ben = story.api(story.ben).get(f"{API}/storage/use").json()
    assert [row["title"] for row in ben["largest"]] == ["cifar"]
    totals = {row["kind"]: (row["count"], row["bytes"]) for row in ben["totals"]}
    assert totals["dataset"] == (2, 115) and totals["checkpoint"] == (0, 0)
    assert [(row["title"], row["reason"][:12]) for row in ben["unused"]] == [
        ("gone", "In the trash"),
        ("cifar", "1 version wi"),
    ]
    assert all(row["step"] and row["page"] for row in ben["unused"])
    team = story.api(story.ada).get(f"{API}/storage/use?team=speech").json()
    assert [row["title"] for row in team["largest"]] == ["hushed"] and team["unused"] == []
    assert story.api(story.cyd).get("/api/v1/orgs/borealis/storage/use").json()["largest"] == []
    for page in ("use", "unused"):
        text = story.client(story.ben).get(f"/atlas/storage/{page}").content.decode()
        assert "cifar" in text and "hushed" not in text, page
        assert story.client(story.ada).get(f"/atlas/storage/{page}?team=x").status_code == 404
        for row in ben["unused"]:
            path = row["page"].partition("#")[0]
            assert story.client(story.ben).get(path).status_code == 200, path


def test_settings_page_deletes_old_versions_after_a_dry_run(stage):
    for data in (b"1" * 100, b"2", b"3"):
        commit(stage.ben, stage.cifar, {"x": data})
    browser, page = stage.story.client(stage.story.ben), "/atlas/datasets/cifar/settings"
    text = browser.get(f"{page}?keep_last=1&keep_days=0").content.decode()
    assert "Would delete 2 versions and free 101" in text and "Delete now" in text
    assert Version.objects.count() == 3
    browser.post(page, {"do": "clean", "keep_last": "1", "keep_days": "0"})
    assert [row.number for row in Version.objects.all()] == [3]
    stage.cifar.refresh_from_db()
    assert stage.cifar.keep_last == 0  # the rules were used once
