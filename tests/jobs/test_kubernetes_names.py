"""Organization and team names of maximum length on Kubernetes (a double)."""

from __future__ import annotations

import uuid

import pytest

from jobs.models import Attempt
from schedulers.kubernetes import names, states
from schedulers.states import State
from tests.jobs.kubernetes_site import Site
from tests.jobs.stage import only_attempt
from workspaces.models import Organization, Team
from workspaces.tenancy.scope import org_scope

LONG = "a" * 39


def test_longest_native_id_fits_its_column():
    space = max(
        (
            names.namespace_name("p" * 20, org, team)
            for org in ("a" * 18, LONG, "b-" * 19)
            for team in ("a" * 18, LONG, "b-" * 19)
        ),
        key=len,
    )
    longest = states.native_id(
        {
            "metadata": {
                "namespace": space,
                "name": names.object_name("k" * 51),
                "uid": str(uuid.uuid4()),
            }
        }
    )
    assert len(space) <= 63 and len(longest) <= (
        Attempt._meta.get_field("native_id").max_length or 0
    )


@pytest.mark.parametrize("jobs", [1, 7])  # few and many rows use different statements
def test_jobs_of_a_team_with_a_long_name_run_and_keep_their_native_id(site: Site, jobs):
    Organization.objects.filter(id=site.story.atlas.id).update(
        slug="atlas-laboratories-of-the-north"
    )
    with org_scope(site.story.atlas.id):
        Team.objects.filter(id=site.story.vision.id).update(slug="vision-and-language-foundation")
    site.story.atlas.refresh_from_db()
    site.story.vision.refresh_from_db()
    made = [site.submit() for _ in range(jobs)]
    site.until(site.is_over)
    assert site.states() == [State.SUCCEEDED] * jobs
    uids = {thing["metadata"]["uid"] for thing in site.double.store.all("jobs", "")}
    assert {only_attempt(job).native_id.rpartition("/")[2] for job in made} == uids
