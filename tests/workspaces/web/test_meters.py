"""Meters have readable names in the language of the page."""

from __future__ import annotations

from django.utils import translation

from portal.core.formatting import gpu_text
from tests.each import each
from workspaces.quotas.set_limits import LimitChange, set_quotas
from workspaces.templatetags.muster import class_name, quantity
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


@each(
    ("value", "unit", "text"),
    [
        (71.84, "W", "71.8 W"),
        (612.0, "W", "612 W"),
        (999.7, "W", "1 kW"),
        (1191.0, "W", "1.19 kW"),
        (24_900.0, "W", "24.9 kW"),
        (9999.0, "", "9,999"),
        (50_000.0, "/s", "50 k/s"),
        (1.98e9, "Hz", "1.98 GHz"),
    ],
)
def test_quantity_is_written_as_charts_write_it(value, unit, text):
    assert quantity(value, unit) == text  # see tests/look/node/charts.test.mjs


def test_gpu_class_is_written_as_people_write_it():
    kinds = ("h100", "l40s", "mig-1g.10gb", "h100.shared", "h100.mps")
    assert [gpu_text(kind) for kind in kinds] == [
        *("H100", "L40S", "MIG 1g.10gb", "H100 shared", "H100 MPS")
    ]


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
