"""Track a user's sessions: one row each, updated at most once a minute, ended by the user.

The session itself is Django's. When it ends, pages refuse it at the next request, and open
websockets close within seconds. Rows of ended sessions are hidden, and deleted by the next cleanup.
"""

from __future__ import annotations

import logging
import re
import time
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import DatabaseError
from django.db.models import Q
from django.http import HttpRequest
from django.utils.module_loading import import_string

from portal.core import clock
from portal.core.errors import NotFound
from portal.core.events import EventRecord, record_all
from portal.core.messages import Message
from workspaces.audit.account_events import orgs_of
from workspaces.models import SignIn

log = logging.getLogger(__name__)
EVERY = 60.0  # seconds between two writes for a session by one process
_MOST = 10_000  # sessions that a process remembers
_seen: dict[str, float] = {}


def record_use(request: HttpRequest, user_id: UUID) -> bool:
    """Record that the session is in use; return False if it has expired, which ends it."""
    key = request.session.session_key or ""
    at = time.monotonic()
    if not key or at - _seen.get(key, -EVERY) < EVERY:
        return True
    data = {
        "user_id": user_id,
        "last_seen_at": clock.now(),
        "address": request.META.get("REMOTE_ADDR", "")[:45],
        "agent": request.headers.get("User-Agent", "")[:200],
    }
    try:
        if not SignIn.objects.filter(active_sign_ins(), key=key).update(**data):
            if row := SignIn.objects.filter(key=key).first():
                return _expire(request, row)
            SignIn.objects.create(key=key, **data)
    except (
        DatabaseError
    ) as error:  # a full disk or two concurrent first requests must not break the page
        log.warning("could not record the last use of a session: %s", error)
        return True
    if len(_seen) >= _MOST:
        _seen.clear()
    _seen[key] = at
    return True


def cycle_session_key(request: HttpRequest) -> None:
    """Change the session's key, which closes connections opened with the former; its age stays."""
    before = request.session.session_key or ""
    request.session.cycle_key()
    SignIn.objects.filter(key=before).update(key=request.session.session_key)


def active_sign_ins() -> Q:
    """Return a filter for sessions within their maximum age and idle time."""
    at = clock.now()
    return Q(
        created_at__gt=at - timedelta(hours=settings.MUSTER_SESSION_HOURS),
        last_seen_at__gt=at - timedelta(hours=settings.MUSTER_SESSION_IDLE_HOURS),
    )


def _expire(request: HttpRequest, row: SignIn) -> bool:
    _end([row], "", "session expired")
    request.session.flush()
    return False


def sessions_of(user_id: UUID, current: str = "") -> list[dict[str, Any]]:
    """Return the active sessions, the current one first, then by last use."""
    kept = Session.objects.filter(expire_date__gt=clock.now()).values("session_key")
    rows = SignIn.objects.filter(active_sign_ins(), user_id=user_id, key__in=kept).order_by(
        "-last_seen_at"
    )
    shown = [
        {
            "id": row.id,
            "device": device(row.agent),
            "address": row.address,
            "created_at": row.created_at,
            "last_seen_at": row.last_seen_at,
            "is_current": row.key == current,
        }
        for row in rows
    ]
    return sorted(shown, key=lambda row: not row["is_current"])


def end_session(user_id: UUID, pk: UUID, *, actor: str) -> None:
    """Sign out one session of a user. Raises NotFound."""
    row = SignIn.objects.filter(user_id=user_id, id=pk).first()
    if row is None:
        raise NotFound(Message("There is no such session, or it has ended."))
    _end([row], actor, "")


def end_other_sessions(user_id: UUID, but: str | None, *, actor: str, why: str = "") -> int:
    """Sign out all sessions of a user but one; return how many."""
    rows = list(SignIn.objects.filter(user_id=user_id).exclude(key=but or ""))
    _end(rows, actor, why)
    return len(rows)


def _end(rows: list[SignIn], actor: str, why: str) -> None:
    store = import_string(settings.SESSION_ENGINE + ".SessionStore")
    for row in rows:
        store().delete(row.key)
        _seen.pop(row.key, None)
        row.delete()
        data = {
            "device": device(row.agent),
            "address": row.address,
            "why": why,
            "before": {"device": device(row.agent)},
        }
        record_all(
            EventRecord("session.ended", org_id, "user", row.user_id, actor, data)
            for org_id in orgs_of(row.user_id)
        )


def delete_expired_sign_ins() -> None:
    """End expired sessions with their websockets, and delete rows of ended ones."""
    _end(list(SignIn.objects.exclude(active_sign_ins())), "", "session expired")
    Session.objects.filter(expire_date__lt=clock.now()).delete()
    SignIn.objects.exclude(key__in=Session.objects.values("session_key")).delete()


def device(agent: str) -> str:
    """Describe a user agent, such as "Firefox 141 on Linux"."""
    mark, browser = next(
        ((mark, name) for mark, name in _BROWSERS if mark in agent),
        ("", "A program" if agent else "Unknown"),
    )
    if mark and (version := re.search(rf"{_VERSIONS.get(mark, mark)}[A-Za-z]*/(\d+)", agent)):
        browser += f" {version[1]}"
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    return f"{browser} on {system}" if system else browser


# The first match counts, as many browsers also name others.
_VERSIONS = {"Safari": "Version", "Mozilla": "-"}
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
    ("Mozilla", "A browser"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
