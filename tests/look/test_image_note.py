"""Test the note on the image in the job form."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from schedulers.images.config import arch_name
from tests.look.conftest import Site, write_yaml
from tests.rig.processes import Folder
from tests.rig.registry import Registry, start_registry

pytestmark = [pytest.mark.browser, pytest.mark.integration]
HERE, ELSEWHERE = arch_name(os.uname().machine), "s390x"


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    folder = Folder()
    yield start_registry(folder)
    folder.close()


@pytest.fixture(scope="module")
def portal_settings(registry: Registry) -> dict[str, str]:
    return {"MUSTER_IMAGE_REGISTRIES": f"http://{registry.host}"}


@pytest.fixture
def page(signed_in: Callable[..., BrowserContext]) -> Iterator[Page]:
    context = signed_in()
    page = context.new_page()
    page.errors = errors = []  # type: ignore[attr-defined]
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert not errors


def test_image_that_fits_no_node_is_reported_by_form_and_api(
    page: Page, site: Site, registry: Registry
) -> None:
    registry.push("team/far", "v1", arch=ELSEWHERE)
    registry.push("team/near", "v1", arch=HERE)
    page.goto(f"{site.url}/home/jobs/new")
    write_yaml(page, f"name: far\nrun: 'true'\nimage: {registry.host}/team/far:v1\n")
    note = page.locator("[data-image]")
    says = f"The image fits 0 of 1 node; 1 is {HERE}, it is built for {ELSEWHERE} only."
    expect(note).to_contain_text(says, timeout=15_000)
    expect(note).to_have_class("form-error")
    page.click("[data-dry-run]")
    expect(page.locator("#dry-run")).to_contain_text(f"✗ image: {says}")
    page.keyboard.press("Escape")
    expect(page.locator("[data-new-job] button.primary")).to_be_disabled()
    expect(page.locator("[data-faults]")).to_contain_text(says)
    write_yaml(page, f"name: near\nrun: 'true'\nimage: {registry.host}/team/near:v1\n")
    expect(note).to_have_text("The image fits the only node.", timeout=15_000)
    write_yaml(page, "name: none\nrun: 'true'\n")
    expect(note).to_be_empty()
