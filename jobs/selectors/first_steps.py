"""The first steps of an organization; each is done once its result exists.

Shown to owners and operators until dismissed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from clusters.models import Cluster, Pool, PoolGrant
from jobs.models import Job
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P
from workspaces.models import GroupRule, Membership, Organization, Provider, Quota, Team


@dataclass(frozen=True)
class SetupStep:
    """One step. `needs`: who can do it. `path`: relative to the organization, or absolute."""

    key: str
    title: str
    why: str
    path: str
    needs: P
    is_done: bool

    def url(self, org: Organization) -> str:
        """Return the page on which it is done."""
        return self.path if self.path.startswith("/") else f"/{org.slug}/{self.path}"


def guide_for(actor: Actor, org: Organization) -> dict[str, Any] | None:
    """Return the progress if the guide applies to this actor and is not dismissed."""
    return progress(steps_of(org)) if org.has_guide and actor.may(P.ORG_ADMIN) else None


def steps_of(org: Organization) -> list[SetupStep]:
    """Return the steps; runs in the scope of the organization. One statement."""
    is_done = _exists(
        org,
        people_from=Provider.objects.filter(Q(org=org) | Q(org=None), is_enabled=True),
        groups=GroupRule.objects.filter(org=org),
        people=Membership.objects.filter(user__is_service=False)[1:2],
        team=Team.objects.exclude(slug="default"),
        quotas=Quota.objects.exclude(limit=None),
        cluster=Cluster.objects.filter(is_enabled=True),
        grant=PoolGrant.objects.all(),
        open_pool=Pool.objects.filter(is_open=True),
        job=Job.objects.filter(state=State.SUCCEEDED),
    )
    return [
        SetupStep(
            "named",
            _("Name the organization"),
            _("The name is shown in the switcher and on every page."),
            "guide?dialog=rename-org",
            P.ORG_ADMIN,
            org.name != "Home",
        ),
        SetupStep(
            "people-from",
            _("Connect a directory or single sign-on"),
            _("People join and leave with their company accounts."),
            "directories",
            P.PROVIDERS_WRITE,
            is_done["people_from"],
        ),
        SetupStep(
            "groups",
            _("Map groups to roles and teams"),
            _("Members of a group get a role in the organization or join a team."),
            "directories",
            P.PROVIDERS_WRITE,
            is_done["groups"],
        ),
        SetupStep(
            "people",
            pgettext("step of the setup", "Invite people"),
            _("Send an invitation, or import a CSV file."),
            "members/import",
            P.MEMBERS_WRITE,
            is_done["people"],
        ),
        SetupStep(
            "team",
            pgettext("step of the setup", "Create a team"),
            _("Jobs, quotas and secrets belong to teams."),
            "teams",
            P.TEAMS_WRITE,
            is_done["team"],
        ),
        SetupStep(
            "quotas",
            pgettext("step of the setup", "Set a quota"),
            _("A quota keeps one team from using every GPU."),
            "quotas",
            P.QUOTAS_WRITE,
            is_done["quotas"],
        ),
        SetupStep(
            "cluster",
            _("Connect a cluster"),
            _("Connect Slurm, Kubernetes or this machine."),
            "/platform/clusters",
            P.CLUSTERS_WRITE,
            is_done["cluster"],
        ),
        SetupStep(
            "pool",
            _("Grant access to a pool"),
            _("Pools decide which nodes a team's jobs may use."),
            "pools",
            P.CLUSTERS_WRITE,
            is_done["grant"] or is_done["open_pool"],
        ),
        SetupStep(
            "job",
            _("Run the first job"),
            _("Start from an example that trains a small model."),
            "jobs/new",
            P.TEAMS_READ,
            is_done["job"],
        ),
    ]


def _exists(org: Organization, **rows: QuerySet[Any]) -> dict[str, bool]:
    """Return which of the sets have a row."""
    asked = {name: Exists(some) for name, some in rows.items()}
    return dict(Organization.objects.filter(pk=org.pk).annotate(**asked).values(*asked).get())


def progress(steps: list[SetupStep]) -> dict[str, Any]:
    done = sum(step.is_done for step in steps)
    return {
        "done": done,
        "all": len(steps),
        "is_complete": done == len(steps),
        "next": next((step for step in steps if not step.is_done), None),
    }
