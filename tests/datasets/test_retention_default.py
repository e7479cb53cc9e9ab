"""The organization's default retention: dry run, saved, overridden for one dataset, and applied."""

from __future__ import annotations

import pytest

from datasets.models import Version
from datasets.tasks import apply_retention
from portal.core.models import Event
from tests.datasets.conftest import commit
from tests.datasets.test_api import CIFAR, ROOT, send
from workspaces.tenancy.scope import no_scope, platform_scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]
DEFAULT = f"{ROOT}-default-retention"


def numbers() -> list[int]:
    with no_scope():
        apply_retention()
    with platform_scope("test"):
        return list(Version.objects.order_by("number").values_list("number", flat=True))


def test_default_counts_for_datasets_without_rules_of_their_own(stage, client):
    for text in (b"one", b"four", b"threes"):
        commit(stage.ben, stage.cifar, {"a": text})
    ada, ben = stage.story.api(stage.story.ada), stage.story.api(stage.story.ben)
    assert numbers() == [1, 2, 3]
    plan = send(ada, "GET", f"{DEFAULT}?keep_last=2")
    assert (plan["versions"], plan["bytes"], plan["is_cut"]) == (1, 3, False)
    row = {"name": "cifar", "team": "vision", "versions": 1, "bytes": 3}
    assert plan["repositories"] == [row]
    send(ben, "PUT", DEFAULT, {"keep_last": 2}, 403)
    assert send(ada, "GET", DEFAULT)["repositories"] == []

    assert send(ada, "PUT", DEFAULT, {"keep_last": 2})["versions"] == 1
    assert send(ada, "GET", DEFAULT.replace("datasets", "checkpoints"))["keep_last"] == 0
    with platform_scope("test"):
        event = Event.objects.filter(kind="dataset.default_retention_changed").get()
    assert event.data["after"] == {"keep_last": 2}
    detail = send(ben, "GET", CIFAR)
    assert (detail["keep_last"], detail["own_retention"]) == (2, False)

    own = send(ben, "PATCH", CIFAR, {"keep_last": 0})  # keep everything here
    assert (own["keep_last"], own["own_retention"]) == (0, True)
    assert send(ada, "GET", DEFAULT)["versions"] == 0
    assert numbers() == [1, 2, 3]
    assert send(ben, "PATCH", CIFAR, {"own_retention": False})["keep_last"] == 2
    assert numbers() == [2, 3]

    with no_scope():
        client.force_login(stage.story.ada)
        page = "/atlas/datasets/-/retention"
        client.post(page, {"do": "plan", "keep_last": "1", "keep_days": "0"}, follow=True)
        shown = client.get(f"{page}?keep_last=1&keep_days=0").content.decode()
        assert "Would delete 1 version and free 4 B" in shown and "cifar" in shown
        client.post(page, {"do": "save", "keep_last": "1", "keep_days": "0"})
        text = client.get("/atlas/datasets/cifar/settings").content.decode()
        assert "default rules of the organization" in text and 'value="1"' in text
    assert numbers() == [3]
