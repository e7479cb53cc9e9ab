"""Readiness reports the state of dependencies."""

from __future__ import annotations

import json

from monitoring import health


def test_readyz_without_redis_is_degraded(db, rf, settings, monkeypatch):
    def refuse():
        raise ConnectionError("refused")

    settings.MUSTER_REDIS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(health, "_redis", refuse)
    answer = health.readyz(rf.get("/readyz"))
    data = json.loads(answer.content)
    assert (answer.status_code, data["status"], data["parts"]["redis"]["ok"]) == (
        200,
        "degraded",
        False,
    )
