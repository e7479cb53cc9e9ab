"""Dispatch all clusters in parallel: one that hangs delays no other, and no request is lost."""

from __future__ import annotations

import logging
import os
import threading
from uuid import UUID

from django.db import close_old_connections

from clusters.models import Cluster
from jobs.dispatch.claims import dispatch_cluster
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)


class Dispatcher(threading.Thread):
    """Dispatch one cluster's queue whenever `wake` is set, for the life of the process."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(name=f"dispatch-{cluster.name}", daemon=True)
        self._cluster = cluster
        self.wake = threading.Event()

    def run(self) -> None:
        while self.wake.wait():
            self.wake.clear()  # clear first, so a request during the run triggers another
            try:
                close_old_connections()
                with platform_scope("dispatch"):
                    dispatch_cluster(self._cluster)
            except Exception:
                log.exception("dispatch to cluster %s failed", self._cluster.name)
            close_old_connections()


_lock = threading.Lock()
_dispatchers: dict[UUID, Dispatcher] = {}


def request_dispatch() -> None:
    """Request the dispatch of every cluster's queue without waiting for it."""
    for cluster in Cluster.objects.all():
        with _lock:
            if cluster.id not in _dispatchers:
                _dispatchers[cluster.id] = Dispatcher(cluster)
                _dispatchers[cluster.id].start()
        _dispatchers[cluster.id].wake.set()


os.register_at_fork(after_in_child=_dispatchers.clear)  # threads do not survive a fork
