"""Add, change, test and remove sources of GPU measurements. Operators only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from clusters.models import Cluster
from monitoring.models import TelemetrySource
from monitoring.sources.reading import PURPOSE, Reading, read_once, token_of
from portal.core import clock, vault
from portal.core.errors import Conflict, InputErrors, InvalidInput, NotFound
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission

SET = "(set)"
MOST_URLS = 500
LONGEST_HISTORY = timedelta(days=366)
INTERVALS = (5, 3600)  # seconds
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
_MATCHER = r'[a-zA-Z_][a-zA-Z0-9_]*(=|!=|=~|!~)"[^"\\\n{}]*"'
_MATCHERS = re.compile(rf"({_MATCHER}(, *{_MATCHER})*)?")
Kind = TelemetrySource.Kind


def sources(actor: Actor) -> QuerySet[TelemetrySource]:
    """Return all sources by name. Raises NotPermitted."""
    authorize(actor, Permission.CLUSTERS_READ)
    return TelemetrySource.objects.select_related("cluster").order_by("name")


def find_source(name: str) -> TelemetrySource:
    """Return a source by name; callers check access. Raises NotFound."""
    rows = TelemetrySource.objects.select_related("cluster").filter(name=name)
    row = rows.first() if name.isprintable() else None
    if row is None:
        raise NotFound(Message("There is no telemetry source {name}.", name=repr(name[:80])))
    return row


@transaction.atomic
def add_source(
    *, actor: Actor, cluster: Cluster, name: str, kind: str, token: str = "", **settings: Any
) -> TelemetrySource:
    """Add a source; it is read at once. `settings`: urls, matchers, interval.

    Raises NotPermitted, InvalidInput, Conflict.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    errors = InputErrors()
    with errors:
        if not _NAME.fullmatch(name):
            raise InvalidInput.at(
                "name",
                Message(
                    "must be 1 to 40 small letters, digits and hyphens, with no hyphen at either "
                    "end"
                ),
            )
    with errors:
        given = _checked(kind, {"urls": "", **settings}, token)
    errors.raise_all()
    row = TelemetrySource(name=name, cluster=cluster, kind=kind, **given)
    row.secret = _sealed(token)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        raise Conflict.at(
            "name",
            Message("A telemetry source named {name} already exists.", name=repr(name)),
            code="name_taken",
        ) from None
    _record("added", row, actor, {"after": _shown(row)})
    return row


@transaction.atomic
def change_source(
    *, actor: Actor, source: TelemetrySource, token: str | None = None, **settings: Any
) -> TelemetrySource:
    """Change settings; omitted ones stay, an empty token removes it.

    A stored token is never sent to another host: new addresses need `token` again. `settings`:
    urls, matchers, interval, is_enabled. Raises NotPermitted, InvalidInput.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    row = TelemetrySource.objects.select_for_update().get(id=source.id)
    before, kept, old_urls = _shown(row), row.secret, row.urls
    is_enabled = settings.pop("is_enabled", row.is_enabled)
    stored = {"urls": row.urls, "matchers": row.matchers, "interval": row.interval}
    if token is not None:
        row.secret = _sealed(token)
    for name, value in _checked(row.kind, stored | settings, row.secret and "set").items():
        setattr(row, name, value)
    if token is None and row.secret and not _origins(row.urls) <= _origins(old_urls):
        raise InvalidInput.at(
            "token", Message("enter the token again, because the address is another one")
        )
    row.is_enabled, row.due_at = is_enabled, clock.now()
    row.save()
    after = _shown(row)
    if before != after or bytes(kept) != bytes(row.secret):
        replaced = {"token_replaced": True} if bytes(kept) != bytes(row.secret) else {}
        _record("changed", row, actor, changes(before, after) | replaced)
    return row


@transaction.atomic
def remove_source(*, actor: Actor, source: TelemetrySource) -> None:
    """Remove a source; what it measured stays. Raises NotPermitted."""
    authorize(actor, Permission.CLUSTERS_WRITE)
    _record("removed", source, actor, {"before": _shown(source)})
    source.delete()


def probe_source(*, actor: Actor, source: TelemetrySource) -> Reading:
    """Read a stored source once, and store nothing but the test. Raises NotPermitted."""
    authorize(actor, Permission.CLUSTERS_WRITE)
    return _tested(actor, source)


def probe_settings(
    *, actor: Actor, cluster: Cluster, kind: str, token: str = "", **settings: Any
) -> Reading:
    """Read a source with settings that are not stored. Raises NotPermitted, InvalidInput."""
    authorize(actor, Permission.CLUSTERS_WRITE)
    given = _checked(kind, {"urls": "", **settings}, token)
    row = TelemetrySource(cluster=cluster, kind=kind, secret=_sealed(token), **given)
    return _tested(actor, row)


def _tested(actor: Actor, row: TelemetrySource) -> Reading:
    found = read_once(row, token_of(row))
    _record("tested", row, actor, {"kind": row.kind, "is_ok": not found.problem})
    return found


@transaction.atomic
def fill_history(*, actor: Actor, source: TelemetrySource, since: datetime) -> TelemetrySource:
    """Read the history of a Prometheus from `since` until the source was added, newest first.

    Raises NotPermitted, InvalidInput.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    if source.kind != Kind.PROMETHEUS:
        raise InvalidInput(Message("Exporters have no history; a Prometheus has."))
    if not clock.now() - LONGEST_HISTORY <= since < source.created_at:
        raise InvalidInput.at(
            "since", Message("must be within the last year and before the source was added")
        )
    row = TelemetrySource.objects.select_for_update().get(id=source.id)
    row.fill_from = round(since.timestamp() * 1000)
    row.fill_until = round(source.created_at.timestamp() * 1000)
    row.due_at = clock.now()
    row.save(update_fields=["fill_from", "fill_until", "due_at"])
    _record("history_asked", row, actor, {"since": since.isoformat()})
    return row


def _sealed(token: str) -> bytes:
    if not token:
        return b""
    if len(token) > 4000 or not token.isascii() or not token.isprintable():
        raise InvalidInput.at("token", Message("must be up to 4,000 printable ASCII characters"))
    return vault.encrypt(token.encode(), PURPOSE)


def _checked(kind: str, given: Mapping[str, Any], token: object) -> dict[str, Any]:
    if kind not in Kind.values:
        raise InvalidInput.at("kind", Message("must be dcgm or prometheus"))
    unknown = sorted(set(given) - {"urls", "matchers", "interval"})
    if unknown:
        raise InvalidInput.at(unknown[0], Message("is no setting of a telemetry source"))
    matchers = str(given.get("matchers") or "").strip()
    interval, errors = given.get("interval") or 30, InputErrors()
    with errors:
        if not isinstance(interval, int) or not INTERVALS[0] <= interval <= INTERVALS[1]:
            raise InvalidInput.at("interval", Message("must be 5 to 3,600 seconds"))
    with errors:
        if matchers and (kind != Kind.PROMETHEUS or len(matchers) > 500):
            raise InvalidInput.at("matchers", Message("are for Prometheus, up to 500 characters"))
        if not _MATCHERS.fullmatch(matchers):
            example = 'job="dcgm"'
            text = Message("must be label matchers such as {example}", example=example)
            raise InvalidInput.at("matchers", text)
    with errors:
        urls = _urls(kind, str(given["urls"]), has_token=bool(token))
    errors.raise_all()
    return {"urls": urls, "matchers": matchers, "interval": interval}


def _urls(kind: str, text: str, *, has_token: bool) -> str:
    urls = text.split()
    if not urls or len(urls) > MOST_URLS or len(text) > 50_000:
        raise InvalidInput.at("urls", Message("needs 1 to 500 addresses, one per line"))
    if kind == Kind.PROMETHEUS and len(urls) != 1:
        raise InvalidInput.at("urls", Message("needs the one address of the Prometheus"))
    for url in urls:
        plain = url.replace("{node}", "node") if kind == Kind.DCGM else url
        try:
            at = urlsplit(plain)
            is_valid = bool(at.hostname) and at.port != 0
        except ValueError:
            is_valid = False
        if not is_valid or at.scheme not in ("http", "https") or set(plain) & set("{}@#"):
            raise InvalidInput.at(
                "urls",
                Message(
                    "{url}: must be http:// or https:// and a host, without a password",
                    url=url[:80],
                ),
            )
        if has_token and at.scheme != "https":
            raise InvalidInput.at("urls", Message("must be https, because a token is sent"))
    return "\n".join(urls)


def _origins(urls: str) -> set[tuple[str, str]]:
    """Return scheme, host and port of addresses."""
    return {(at.scheme, at.netloc.lower()) for at in map(urlsplit, urls.split())}


def _shown(row: TelemetrySource) -> dict[str, Any]:
    """Return the settings for an event; of the token only that it is set."""
    return {
        "kind": row.kind,
        "cluster": row.cluster.name,
        "urls": row.urls,
        "matchers": row.matchers,
        "interval": row.interval,
        "is_enabled": row.is_enabled,
        "token": SET if row.secret else "",
    }


def _record(what: str, row: TelemetrySource, actor: Actor, data: Mapping[str, Any]) -> None:
    record(
        EventRecord(
            f"telemetry_source.{what}",
            None,
            "telemetry_source",
            row.id,
            actor.email,
            {"name": row.name, **data},
        )
    )
