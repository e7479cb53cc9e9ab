"""Actions of this app in the command palette."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.web.navigation import Action, dialog

ACTIONS = (
    Action(
        _("Add notification channel"),
        pgettext_lazy("synonyms", "Slack, Microsoft Teams, Discord, webhook, e-mail, PagerDuty"),
        "notification-channels",
        dialog("add-channel"),
    ),
    Action(
        pgettext_lazy("button", "Notification settings"),
        pgettext_lazy("synonyms", "alerts, e-mail, mute, quiet hours"),
        "notification-settings",
    ),
)
