"""Meters have readable names in the language of the page."""

from __future__ import annotations

from django.utils import translation

from tests.each import each
from workspaces.quotas.set_limits import LimitChange, set_quotas
from workspaces.templatetags.muster import class_name
from workspaces.tenancy.scope import org_scope


@each(
    ("language", "names"),
    [
        ("en", ["CPU", "Memory", "H100", "Jobs", "GPU h", "Logs"]),
        ("ko", ["CPU", "메모리", "H100", "작업", "GPU 시간", "로그"]),
    ],
)
def test_meter_name_is_translated(language, names):
    with translation.override(language):
        assert [
            class_name(one) for one in ("cpu", "memory", "gpu.h100", "jobs", "gpu-hours", "storage")
        ] == names


def test_team_meters_are_translated_to_korean(story, client):
    with org_scope(story.atlas.id):
        set_quotas(
            actor=story.actor(story.ada),
            org=story.atlas,
            changes=[LimitChange("team", "vision", "memory", 64)],
        )
    client.force_login(story.ada)
    page = client.get("/atlas/teams/vision", headers={"accept-language": "ko"}).content.decode()
    assert ">메모리</span>" in page and ">memory</span>" not in page
