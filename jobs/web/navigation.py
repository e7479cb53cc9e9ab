"""Entries of this app in the navigation, and its actions in the command palette."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.web.navigation import Action, Group, NavigationEntry, dialog
from workspaces.access.permissions import Permission as P

ENTRIES = (
    NavigationEntry(
        Group.WORK, pgettext_lazy("navigation, start page", "Home"), "home", "home", None, 10, "h"
    ),
    NavigationEntry(Group.WORK, pgettext_lazy("navigation", "Jobs"), "jobs", "jobs", None, 20, "j"),
    NavigationEntry(
        Group.COMPUTE,
        pgettext_lazy("navigation", "Quotas"),
        "quotas",
        "quotas",
        P.QUOTAS_READ,
        60,
        "q",
    ),
    NavigationEntry(
        Group.PLATFORM,
        pgettext_lazy("navigation", "Queue"),
        "queue",
        "queue",
        P.CLUSTERS_READ,
        40,
        "w",
    ),
)

ACTIONS = (
    Action(
        pgettext_lazy("button", "New job"),
        pgettext_lazy("synonyms", "submit, run, start, launch, train, sbatch"),
        "job-new",
        permission=P.JOBS_SUBMIT,
        key="c",
    ),
    Action(
        pgettext_lazy("button", "My running jobs"),
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
        pgettext_lazy("button", "My pending jobs"),
        pgettext_lazy("synonyms", "waiting, queued, why is my job pending"),
        "jobs",
        "?owner=me&state=queued",
    ),
    Action(
        pgettext_lazy("button", "Request quota"),
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
