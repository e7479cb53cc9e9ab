"""Words that pages translate and that no literal marks: names of states, roles and units."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

STATES = (
    _("queued"),
    _("dispatching"),
    _("submitted"),
    _("starting"),
    _("running"),
    _("stopping"),
    _("succeeded"),
    _("failed"),
    _("canceled"),
    _("unknown"),
    _("held"),
)
NODES = (
    _("ready"),
    _("busy"),
    _("idle"),
    _("drained"),
    _("draining"),
    _("down"),
    _("gone"),
    _("disabled"),
    _("enabled"),
    _("silent"),
    _("connected"),
    _("not seen yet"),
    _("not looked at"),
)
PLACES = (_("this machine"),)  # who says so of a job's state; the others are names
PRIORITIES = (_("low"), _("normal"), _("high"))
HEADS = (
    _("CPU cores"),
    _("Memory"),
    _("Running jobs"),
    _("GPU-hours a month"),
    _("Storage"),
)  # of the quotas' columns
ERRORS = (
    _("Invalid input"),
    _("Not signed in"),
    _("Not permitted"),
    _("Not found"),
    _("Conflict"),
    _("Gone"),
    _("Too large"),
    _("Unsupported media type"),
    _("Method not allowed"),
    _("Too many requests"),
    _("Unavailable"),
    _("Internal error"),
)
ROLES = (_("In the organization"), _("In a team"))
TRIES = (
    _("user error"),
    _("command not found"),
    _("not executable"),
    _("out of memory"),
    _("time limit"),
    _("killed by signal"),
    _("disk full"),
    _("image unavailable"),
    _("no kernel image"),
    _("rejected"),
    _("dependency failed"),
    _("preempted"),
    _("interrupted"),
    _("node failed"),
    _("xid"),
    _("forgotten"),
    _("lost"),
    _("platform error"),
)  # why a try of a job ended, in its strip of states
NOUNS = (
    _("agent"),
    _("applications"),
    _("audit"),
    _("billing"),
    _("clusters"),
    _("datasets"),
    _("experiments"),
    _("jobs"),
    _("members"),
    _("models"),
    _("nodes"),
    _("org"),
    _("platform"),
    _("providers"),
    _("quotas"),
    _("roles"),
    _("secrets"),
    _("teams"),
    _("tokens"),
)  # what permissions are grouped by
EXAMPLES = (
    _(
        "Train a small network on 1,797 real handwritten digits and watch loss and accuracy "
        "move, in half a minute."
    ),
    _(
        "Train on two nodes at once: each learns half of every batch, and they agree on the "
        "gradients. "
        "Needs PyTorch there (gloo, or NCCL with GPUs)."
    ),
    _("Ask for one GPU and show which one it is; waits, and says why, until one is free."),
    _("Print where the job runs and what it got: the quickest look at a job and its log."),
    _("Try six learning rates as one array job, two at a time, and compare their curves."),
    _("Fails on purpose, with a misspelled command, to show how Muster explains what went wrong."),
)  # what the examples say of themselves
