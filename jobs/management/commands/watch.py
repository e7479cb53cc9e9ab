"""manage.py watch: run a watcher thread per cluster. Several processes may run; one leads."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from jobs.background import watcher


class Command(BaseCommand):
    help = "Watch every cluster: states, logs, stops, inventory."

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        watcher(stop)
