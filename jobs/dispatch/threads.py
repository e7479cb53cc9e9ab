"""Dispatch all clusters in parallel: one that hangs delays no other, and no request is lost."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Collection
from uuid import UUID

from django.db import close_old_connections

from clusters.models import Cluster
from jobs.dispatch.claims import dispatch_cluster
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)


class Dispatcher(threading.Thread):
    """Dispatch one cluster's queue whenever `wake` is set, until `end`."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(name=f"dispatch-{cluster.name}", daemon=True)
        self._cluster = cluster
        self.wake = threading.Event()
        self._is_ended = False

    def end(self) -> None:
        self._is_ended = True
        self.wake.set()

    def run(self) -> None:
        while self.wake.wait() and not self._is_ended:
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
    clusters = {cluster.id: cluster for cluster in Cluster.objects.all()}
    end_dispatchers(except_of=clusters)
    for id_, cluster in clusters.items():
        with _lock:
            if id_ not in _dispatchers:
                _dispatchers[id_] = Dispatcher(cluster)
                _dispatchers[id_].start()
            _dispatchers[id_].wake.set()


def end_dispatchers(*, except_of: Collection[UUID] = ()) -> None:
    """End the threads of all other clusters, which were removed."""
    with _lock:
        for id_ in _dispatchers.keys() - set(except_of):
            _dispatchers.pop(id_).end()


os.register_at_fork(after_in_child=_dispatchers.clear)  # threads do not survive a fork
