"""Entries of this app in the navigation, and its actions in the command palette."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.web.navigation import Action, Group, NavigationEntry, dialog
from workspaces.access.permissions import Permission as P

ENTRIES = (
    NavigationEntry(Group.WORK, _("Home"), "home", "home", None, 10, "h"),
    NavigationEntry(Group.WORK, _("Jobs"), "jobs", "jobs", None, 20, "j"),
    NavigationEntry(Group.COMPUTE, _("Quotas"), "quotas", "quotas", P.QUOTAS_READ, 60, "q"),
    NavigationEntry(Group.PLATFORM, _("Queue"), "queue", "queue", P.CLUSTERS_READ, 40, "w"),
)

ACTIONS = (
    Action(
        _("New job"),
        pgettext_lazy("synonyms", "submit, run, start, launch, train, sbatch"),
        "job-new",
        permission=P.JOBS_SUBMIT,
        key="c",
    ),
    Action(
        _("My running jobs"),
        pgettext_lazy("synonyms", "my jobs, active"),
        "jobs",
        "?owner=me&state=running",
    ),
    Action(
        _("Failed jobs of yesterday"),
        pgettext_lazy("synonyms", "failures, errors, crashes"),
        "jobs",
        "?state=failed&on=yesterday",
    ),
    Action(
        _("My pending jobs"),
        pgettext_lazy("synonyms", "waiting, queued, why is my job pending"),
        "jobs",
        "?owner=me&state=queued",
    ),
    Action(
        _("Request quota"),
        pgettext_lazy("synonyms", "more GPUs, raise limit, ask for GPUs, increase"),
        "quotas",
        dialog("request-more"),
        permission=P.QUOTAS_READ,
    ),
    Action(
        _("Clean up storage"),
        pgettext_lazy("synonyms", "disk, space, delete logs, full"),
        "storage",
    ),
)
