"""Words that pages show and no literal says: names of states, and of what is counted. The filter `words` finds them."""

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
    _("No GPU: {why}."),
)
PLACES = (_("this machine"),)  # who says so of a job's state; the others are names
PRIORITIES = (_("low"), _("normal"), _("high"))
HEADS = (
    _("cores"),
    _("memory"),
    _("running jobs"),
    _("GPU-hours a month"),
    _("logs kept"),
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
    _("jobs"),
    _("members"),
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
# what is wrong with a field of a form
FAULTS = (
    _("must be 2 to 40 of a-z, 0-9 and '-', begin with a letter and not end with '-'"),
    _("{text} is not an e-mail address"),
    _("must be 2 to 64 of a-z, 0-9, '.', '_' and '-'"),
    _("is required"),
    _("must be a whole number"),
    _("is not valid text"),
    _("must be 1 to 40 small letters, digits and hyphens, with no hyphen at either end"),
    _("must be between {low} and {high}"),
    _("must be 1 to 63 letters, digits and . _ -, beginning with a letter or digit"),
    _("must be at most {most}"),
    _("must be 1 to {n} characters long, without control characters"),
    _("must be at most {n} characters long, without control characters"),
    _("{text} is no network; write 10.20.0.0/16, 2001:db8::/32 or one address"),
    _("{name} is the name of a built-in role; choose another"),
    _("{name} is an address of the portal itself; choose another name"),
    _("must be one of {names}"),
    _("there is no team {name} here"),
    _("of {what} is above its limit"),
    _("is of a team or a person: it is kept free inside the organization's limit"),
    _("{words}: choose from {names}"),
    _("must be 1 to {n} bytes long"),
    _("must be a number not below 0, or null for none"),
    _("You may not do that in this organization: it needs {permission}."),
    _("You may not do that in this team: it needs {permission}."),
)
EXAMPLES = (
    _(
        "Train a small network on 1,797 real handwritten digits and watch loss and accuracy move, in half a minute."
    ),
    _(
        "Train on two nodes at once: each learns half of every batch, and they agree on the gradients. "
        "Needs PyTorch there (gloo, or NCCL with GPUs)."
    ),
    _("Ask for one GPU and show which one it is; waits, and says why, until one is free."),
    _("Say where the job runs and what it was given: the shortest look at a job and its log."),
    _("Try six learning rates as one array job, two at a time, and compare their curves."),
    _("Fails on purpose, by a misspelt command, to show how Muster explains what went wrong."),
)  # what the examples say of themselves
ENDS = (
    _("Exit code {code}."),
    _("Exit code {code}. {line}"),
    _("Ended by {signal}. {line}"),
)  # what a job's end is told by
CHAINS = (
    _("sealed up to now: {n} event"),
    _("sealed up to now: {n} events"),
    _("no events yet"),
    _("sealed up to {n} s ago: {many}"),
    _("{n} event not sealed yet"),
    _("{n} events not sealed yet"),
    _("being verified now"),
    _("never verified"),
    _("verified {at} UTC, {n} fault"),
    _("verified {at} UTC, {n} faults"),
    _("verified {at} UTC, {n} faults; being verified again"),
    _("verified {at} UTC, {n} fault; being verified again"),
)
HEADLINES = (_("Canceled."),)  # of how a job ended; the others read like sentences and are found
LOGS = (
    _("complete, {n} bytes, 0 gaps, closed by {end}"),
    _("{n} gap: {where}; {size} bytes kept, closed by {end}"),
    _("{n} gaps: {where}; {size} bytes kept, closed by {end}"),
    _("deleted by {who} on {at} UTC; it had {n} bytes, closed by {end}"),
)
ACTED = (
    _("being stopped"),
    _("submitted again"),
    _("the logs are being deleted"),
)  # on many jobs at once
POOLS = (_("all nodes"), _("partition {name}"))
