"""Words that pages show and no literal says: names of states, and of what is counted. The filter `words` finds them."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

STATES = (_("queued"), _("dispatching"), _("submitted"), _("starting"), _("running"), _("stopping"), _("succeeded"), _("failed"), _("canceled"),
          _("unknown"), _("held"))
NODES = (_("ready"), _("busy"), _("idle"), _("drained"), _("draining"), _("down"), _("gone"), _("disabled"), _("enabled"), _("silent"))
PLACES = (_("this machine"),)          # who says so of a job's state; the others are names
