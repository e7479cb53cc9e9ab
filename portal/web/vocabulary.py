"""Words that pages translate and that no literal marks: names of states, roles and units."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from portal.core.messages import Message

STATES = (
    Message("queued", context="state of a job"),
    Message("dispatching", context="state of a job"),
    Message("submitted", context="state of a job"),
    Message("starting", context="state of a job"),
    Message("running", context="state of a job"),
    Message("stopping", context="state of a job"),
    Message("succeeded", context="state of a job"),
    Message("failed", context="state of a job"),
    Message("canceled", context="state of a job"),
    Message("unknown", context="state of a job"),
    Message("held", context="state of a job"),
)
NODES = (
    Message("ready", context="state of a node"),
    Message("busy", context="state of a node"),
    Message("idle", context="state of a node, not working"),
    Message("drained", context="state of a node"),
    Message("draining", context="state of a node"),
    Message("down", context="state of a node"),
    Message("gone", context="state of a node"),
    Message("disabled", context="state of a node"),
    Message("enabled", context="state of a node"),
    Message("silent", context="state of a node"),
    Message("connected", context="state of a node"),
    Message("not seen yet", context="state of a node"),
    Message("not looked at", context="state of a node"),
)
PLACES = (
    Message("this machine", context="who reports a state"),
)  # who says so of a job's state; the others are names
PRIORITIES = (
    Message("low", context="priority"),
    Message("normal", context="priority"),
    Message("high", context="priority"),
)
HEADS = (
    Message("CPU cores", context="quota"),
    Message("Memory", context="quota, RAM"),
    Message("Running jobs", context="quota"),
    _("GPU-hours a month"),
    Message("Storage", context="quota"),
)  # of the quotas' columns
ERRORS = (
    Message("Invalid input", context="error"),
    Message("Not signed in", context="error"),
    Message("Not permitted", context="error"),
    Message("Not found", context="error"),
    Message("Conflict", context="error"),
    Message("Gone", context="error"),
    Message("Too large", context="error"),
    _("Unsupported media type"),
    _("Method not allowed"),
    _("Too many requests"),
    Message("Unavailable", context="error"),
    Message("Internal error", context="error"),
)
TRIES = (
    Message("user error", context="why a job ended"),
    _("command not found"),
    Message("not executable", context="why a job ended"),
    Message("out of memory", context="why a job ended"),
    Message("time limit", context="why a job ended"),
    _("killed by signal"),
    Message("disk full", context="why a job ended"),
    Message("image unavailable", context="why a job ended"),
    Message("no kernel image", context="why a job ended"),
    Message("rejected", context="why a job ended"),
    Message("dependency failed", context="why a job ended"),
    Message("preempted", context="why a job ended"),
    Message("interrupted", context="why a job ended"),
    Message("node failed", context="why a job ended"),
    Message("xid", context="why a job ended"),
    Message("forgotten", context="why a job ended"),
    Message("lost", context="why a job ended"),
    Message("platform error", context="why a job ended"),
)  # why a try of a job ended, in its strip of states
NOUNS = (
    Message("agent", context="group of permissions"),
    Message("applications", context="group of permissions"),
    Message("audit", context="group of permissions"),
    Message("billing", context="group of permissions"),
    Message("clusters", context="group of permissions"),
    Message("datasets", context="group of permissions"),
    Message("experiments", context="group of permissions"),
    Message("jobs", context="group of permissions"),
    Message("members", context="group of permissions"),
    Message("models", context="group of permissions"),
    Message("nodes", context="group of permissions"),
    Message("org", context="group of permissions"),
    Message("platform", context="group of permissions"),
    Message("providers", context="group of permissions"),
    Message("quotas", context="group of permissions"),
    Message("roles", context="group of permissions"),
    Message("secrets", context="group of permissions"),
    Message("teams", context="group of permissions"),
    Message("tokens", context="group of permissions"),
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
