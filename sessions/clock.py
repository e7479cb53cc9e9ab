"""The idle clock of a session as people see it: what counts as use, when it was, and what follows."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, TypedDict

from jobs.models import IdleRule
from jobs.utilization.idle_rules import IdleClock, idle_clock
from jobs.utilization.interactive import WORKING_CORES
from portal.core import clock
from portal.core.messages import Message
from portal.core.shapes import Time
from sessions.activity import says_whether_it_computes
from sessions.models import InteractiveSession
from sessions.selectors import attempt_of
from sessions.templates import JUPYTER, title_of


class IdleSignShape(TypedDict):
    title: Annotated[str, "What counts as use."]
    at: Annotated[Time | None, "When it was last seen; null: not yet."]
    text: Annotated[str, "What is said instead of a time, such as that it is not measured."]


class IdleClockShape(TypedDict):
    pool: str
    window: Annotated[int, "Minutes without use until the warning."]
    grace: Annotated[int, "Minutes from the warning to the action."]
    action: Annotated[str, "warn, lower or stop"]
    is_running: Annotated[
        bool, "It counts towards the action; not while GPUs work or nobody knows."
    ]
    used_at: Annotated[Time, "The last use; the start of the session counts."]
    warns_at: Time | None
    acts_at: Annotated[Time | None, "When the rule acts if nobody uses it; null if it only warns."]
    warned_at: Time | None
    kept_until: Time | None
    kept_by: str
    text: str
    signs: list[IdleSignShape]


def clock_of(session: InteractiveSession) -> IdleClockShape | None:
    """Return the idle clock of a running session, None if no rule applies to it."""
    attempt = attempt_of(session)
    found = idle_clock(session.job, attempt) if attempt else None
    if found is None:
        return None
    rule, case = found.rule, found.case
    window, grace = timedelta(minutes=rule.window), timedelta(minutes=rule.grace)
    is_kept = case is not None and case.keep_until is not None and case.keep_until > clock.now()
    warned = case.warned_at if case else None
    warns = warned or found.use.last_at + window
    acts = case.acts_at if case and warned else warns + grace
    return {
        "pool": rule.pool.name,
        "window": rule.window,
        "grace": rule.grace,
        "action": rule.action,
        "is_running": found.is_running and not is_kept,
        "used_at": found.use.last_at,
        "warns_at": None if is_kept or not found.is_running else warns,
        "acts_at": None
        if is_kept or not found.is_running or rule.action == IdleRule.Action.WARN
        else acts,
        "warned_at": warned,
        "kept_until": case.keep_until if case and is_kept else None,
        "kept_by": case.kept_by if case and is_kept else "",
        "text": _text(session, found),
        "signs": _signs(session, found),
    }


def _text(session: InteractiveSession, found: IdleClock) -> Message:
    """Say why the clock does not run, or what it counts."""
    if not found.use.is_known:
        return Message(
            "Nothing tells whether {app} computes on this node, so it is not stopped when idle.",
            app=title_of(session.template),
        )
    if found.gpus_work:
        return Message("Its GPUs work, so it is not idle.")
    if found.gpus_unknown:
        return Message("The use of its GPUs is not known, so it is not stopped when idle.")
    return Message("An open tab does not count as use.")


def _signs(session: InteractiveSession, found: IdleClock) -> list[IdleSignShape]:
    use = found.use
    signs = [_sign(Message("Typing and clicks", context="sign of use"), use.person_at)]
    if says_whether_it_computes(session.template):
        title = (
            Message("Busy kernels", context="sign of use")
            if session.template == JUPYTER.name
            else Message("Programs in its shells", context="sign of use")
        )
        silent = "" if use.app_answers else Message("not known", context="sign of use")
        signs.append(_sign(title, use.busy_at, silent))
    title = Message("CPU, {n} cores or more", context="sign of use", n=f"{WORKING_CORES:g}")
    silent = "" if use.has_cpu else Message("not measured", context="sign of use")
    signs.append(_sign(title, use.cpu_at, silent))
    if found.has_gpus:
        shown = found.gpu.shown if found.gpu else Message("not measured", context="sign of use")
        signs.append(_sign(Message("GPUs", context="sign of use"), None, shown))
    return signs


def _sign(title: Message, at: datetime | None, text: str = "") -> IdleSignShape:
    never = Message("not yet", context="sign of use")
    return {"title": title, "at": at, "text": text or ("" if at else never)}
