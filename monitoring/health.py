"""Health endpoints: /healthz (liveness), /readyz (dependencies) and /metrics (Prometheus)."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from prometheus_client import CollectorRegistry, generate_latest

from monitoring.metrics.exposition import PortalCollector
from portal.core.errors import NotAuthenticated, NotPermitted
from portal.core.outage import RETRY_AFTER
from portal.web.errors import answer


def healthz(request: HttpRequest) -> HttpResponse:
    """Report that this process responds, whatever else is down."""
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> HttpResponse:
    """Report readiness: 503 without the database, "degraded" without Redis."""
    parts = {
        "database": _check(_database),
        **({"redis": _check(_redis)} if settings.MUSTER_REDIS_URL else {}),
    }
    is_ready = parts["database"]["ok"]
    if not is_ready:
        return JsonResponse(
            {"status": "not ready", "parts": parts},
            status=503,
            headers={"Retry-After": str(RETRY_AFTER)},
        )
    status = "ready" if all(part["ok"] for part in parts.values()) else "degraded"
    return JsonResponse({"status": status, "parts": parts})


def metrics(request: HttpRequest) -> HttpResponse:
    """Serve metrics to operators, or to scrapers with an operator's token."""
    actor = request.actor  # type: ignore[attr-defined]
    if actor is None or not actor.is_operator:
        error = (
            NotPermitted("Only a platform operator reads these.")
            if actor
            else NotAuthenticated("Send an operator's access token: Authorization: Bearer mst_…")
        )
        return answer(request, error)
    registry = CollectorRegistry()
    registry.register(PortalCollector(actor))
    return HttpResponse(
        generate_latest(registry), content_type="text/plain; version=0.0.4; charset=utf-8"
    )


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _redis() -> None:
    import redis

    redis.Redis.from_url(
        settings.MUSTER_REDIS_URL, socket_timeout=1, socket_connect_timeout=1
    ).ping()


def _check(probe: Callable[[], None]) -> dict[str, object]:
    began = time.monotonic()
    try:
        probe()
    except Exception as error:
        return {"ok": False, "said": type(error).__name__}
    return {"ok": True, "ms": round((time.monotonic() - began) * 1000, 1)}
