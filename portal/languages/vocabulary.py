"""Words that pages show and no literal says: names of states, and of what is counted. The filter `words` finds them."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

STATES = (_("queued"), _("dispatching"), _("submitted"), _("starting"), _("running"), _("stopping"), _("succeeded"), _("failed"), _("canceled"),
          _("unknown"), _("held"))
NODES = (_("ready"), _("busy"), _("idle"), _("drained"), _("draining"), _("down"), _("gone"), _("disabled"), _("enabled"), _("silent"),
         _("connected"), _("not seen yet"), _("not looked at"), _("No GPU: {why}."))
PLACES = (_("this machine"),)          # who says so of a job's state; the others are names
PRIORITIES = (_("low"), _("normal"), _("high"))
HEADS = (_("cores"), _("memory"), _("running jobs"), _("GPU-hours a month"))          # of the quotas' columns
ERRORS = (_("Invalid input"), _("Not signed in"), _("Not permitted"), _("Not found"), _("Conflict"), _("Too large"),
          _("Unsupported media type"), _("Method not allowed"), _("Too many requests"), _("Unavailable"), _("Internal error"))
ROLES = (_("In the organization"), _("In a team"))
TRIES = (_("user error"), _("command not found"), _("not executable"), _("out of memory"), _("time limit"), _("killed by signal"), _("disk full"),
         _("image unavailable"), _("no kernel image"), _("rejected"), _("dependency failed"), _("preempted"), _("node failed"), _("xid"),
         _("forgotten"), _("lost"), _("platform error"))          # why a try of a job ended, in its strip of states
NOUNS = (_("agent"), _("applications"), _("audit"), _("billing"), _("clusters"), _("jobs"), _("members"), _("nodes"), _("org"), _("platform"),
         _("providers"), _("quotas"), _("roles"), _("secrets"), _("teams"), _("tokens"))          # what permissions are grouped by
EXAMPLES = (_("Train a small network on 1,797 real handwritten digits and watch loss and accuracy move, in half a minute."),
            _("Train on two nodes at once: each learns half of every batch, and they agree on the gradients. Needs PyTorch there (gloo, or NCCL with GPUs)."),
            _("Ask for one GPU and show which one it is; waits, and says why, until one is free."),
            _("Say where the job runs and what it was given: the shortest look at a job and its log."),
            _("Try six learning rates as one array job, two at a time, and compare their curves."),
            _("Fails on purpose, by a misspelt command, to show how Muster explains what went wrong."))          # what the examples say of themselves
ENDS = (_("Exit code {code}."), _("Exit code {code}. {line}"), _("Ended by {signal}. {line}"))     # what a job's end is told by
CHAINS = (_("sealed up to now: {n} event"), _("sealed up to now: {n} events"), _("no events yet"), _("sealed up to {n} s ago: {many}"),
          _("{n} event not sealed yet"), _("{n} events not sealed yet"), _("being verified now"), _("never verified"),
          _("verified {at} UTC, {n} fault"), _("verified {at} UTC, {n} faults"), _("verified {at} UTC, {n} faults; being verified again"),
          _("verified {at} UTC, {n} fault; being verified again"))
LOGS = (_("complete, {n} bytes, 0 gaps, closed by {end}"), _("{n} gap: {where}; {size} bytes kept, closed by {end}"),
        _("{n} gaps: {where}; {size} bytes kept, closed by {end}"))
POOLS = (_("all nodes"), _("partition {name}"))
