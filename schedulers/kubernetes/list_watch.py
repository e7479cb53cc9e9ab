"""Mirror one kind of object from the API server with a list and a watch."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from portal.core.messages import Message
from schedulers.contract import Unavailable
from schedulers.kubernetes import names
from schedulers.kubernetes.client import ApiError, Client

log = logging.getLogger(__name__)
Object = dict[str, Any]
PAGE = 500
WATCH = 240  # seconds after which the server ends a watch
SILENCE = 300.0  # seconds without data after which we end a watch
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0


class Expired(Exception):
    """The resource version has expired (410): list again."""


class Mirror:
    """Objects by key label and by UID.

    A dedicated thread writes and any thread reads. It stops when `stop` is called.
    """

    def __init__(self, wire: Client, path: str, selector: str, keeps_ended: bool = False):
        self._wire, self._path, self._selector, self._keeps_ended = (
            wire,
            path,
            selector,
            keeps_ended,
        )
        self._lock = threading.Lock()
        self._objects: dict[str, dict[str, Object]] = {}
        self._synced, self._stopped, self._started = threading.Event(), threading.Event(), False
        self._hurried = threading.Event()
        self._answer: Any = None  # of the watch that is being read
        self._version = ""
        self.heard_at = 0.0  # monotonic time of the server's last message
        self.trouble: str = ""  # why it is not connected; empty if it is
        self.lists = 0  # number of lists: one, unless a resource version expired

    def start(self) -> None:
        with self._lock:
            if self._started:
                return
            self._started = True
        threading.Thread(target=self._run, name=f"watch {self._path}", daemon=True).start()

    def stop(self) -> None:
        """End the thread at once, also while it waits for the next event."""
        self._stopped.set()
        self._hurried.set()
        if (answer := self._answer) is not None:
            with suppress(OSError, RuntimeError, ValueError):  # it has just ended
                answer.shutdown()

    def hurry(self) -> None:
        """Connect at once if it waits to do so: the server answers."""
        self._hurried.set()

    def wait(self, seconds: float) -> bool:
        """Wait until the mirror is in sync; returns whether it is."""
        return self._synced.wait(seconds)

    def of(self, key: str) -> list[Object]:
        """Return the objects labelled with this key."""
        with self._lock:
            return list(self._objects.get(key, {}).values())

    def put(self, thing: Object) -> None:
        """Add an object that we created, before the watch reports it."""
        with self._lock:
            self._objects.setdefault(_key(thing), {}).setdefault(thing["metadata"]["uid"], thing)

    def note(self, thing: Object, notes: Mapping[str, str]) -> None:
        """Add annotations that we set.

        They are merged into the current version, as the watch may be ahead of our response.
        """
        with self._lock:
            known = self._objects.get(_key(thing), {})
            if (held := known.get(thing["metadata"]["uid"])) is not None:
                meta = held["metadata"]
                known[meta["uid"]] = {
                    **held,
                    "metadata": {**meta, "annotations": {**meta.get("annotations", {}), **notes}},
                }

    def drop(self, key: str) -> None:
        with self._lock:
            self._objects.pop(key, None)

    def _run(self) -> None:
        pause = FIRST_PAUSE
        while not self._stopped.is_set():
            try:
                self._list_and_watch()
                pause = FIRST_PAUSE
            except Expired:
                self._version = ""
            except (Unavailable, ApiError, ValueError, KeyError) as error:
                self.trouble = str(error) or type(error).__name__
                log.info("The watch of %s broke: %s", self._path, self.trouble)
                self._hurried.wait(pause)
                self._hurried.clear()
                pause = min(pause * 2, LONGEST_PAUSE)

    def _list_and_watch(self) -> None:
        """List if necessary, then watch until the watch ends."""
        try:
            if not self._version:
                self._list()
            self._watch()
        except ApiError as error:
            if error.status == 410:
                raise Expired from error
            raise

    def _list(self) -> None:
        found: dict[str, dict[str, Object]] = {}
        token: str | None = None
        while True:
            page = self._wire.get(
                self._path, labelSelector=self._selector, limit=PAGE, **{"continue": token}
            )
            for thing in page["items"]:
                found.setdefault(_key(thing), {})[thing["metadata"]["uid"]] = _slim(thing)
            token = page["metadata"].get("continue")
            if not token:
                break
        with self._lock:
            for key, things in self._objects.items() if self._keeps_ended else ():
                for uid, thing in things.items():
                    if _is_ended(thing):
                        found.setdefault(key, {}).setdefault(uid, thing)
            self._objects = found
        self._version = page["metadata"]["resourceVersion"]
        self.lists += 1
        self._note_contact()
        self._synced.set()

    def _watch(self) -> None:
        query = {
            "labelSelector": self._selector,
            "watch": 1,
            "allowWatchBookmarks": True,
            "resourceVersion": self._version,
            "timeoutSeconds": WATCH,
        }
        with self._wire.stream(self._path, silence=SILENCE, **query) as answer:
            self._answer = answer
            self._note_contact()
            if self._stopped.is_set():
                return
            for event in _events(answer):
                if self._stopped.is_set():
                    return
                self._note_contact()
                self._take(event)

    def _take(self, event: Mapping[str, Any]) -> None:
        kind, thing = event["type"], event["object"]
        if kind in {"ADDED", "MODIFIED"}:
            with self._lock:
                self._objects.setdefault(_key(thing), {})[thing["metadata"]["uid"]] = _slim(thing)
        elif kind == "DELETED":
            self._remove(thing)
        elif kind != "BOOKMARK":
            log.warning("A watch told of something unknown: %r", kind)
        self._version = thing["metadata"]["resourceVersion"]

    def _remove(self, thing: Object) -> None:
        """Remove an object; a finished pod is kept, as it has the result of its job."""
        key, uid = _key(thing), thing["metadata"]["uid"]
        with self._lock:
            things = self._objects.get(key, {})
            if self._keeps_ended and _is_ended(thing):
                things[uid] = _slim(thing)
                return
            things.pop(uid, None)
            if not things:
                self._objects.pop(key, None)

    def _note_contact(self) -> None:
        self.heard_at, self.trouble = time.monotonic(), ""


def _events(answer: Any) -> Iterator[Object]:
    """Yield the events of a watch; an incomplete last one is dropped, as it will be sent again.

    Raises Expired, Unavailable.
    """
    from kubernetes.client import ApiException
    from kubernetes.watch import Watch

    try:
        # a function without a return type, so that objects stay plain dicts
        events: Any = Watch()  # type: ignore[no-untyped-call]
        for event in events.stream(lambda **_: answer, timeout_seconds=WATCH):
            if event is None:
                raise Unavailable(Message("A watch sent something that is not JSON."))
            yield event
    except ApiException as error:
        if error.status == 410:
            raise Expired from error
        raise Unavailable(str(error.reason)) from error


def _key(thing: Mapping[str, Any]) -> str:
    return str(thing["metadata"].get("labels", {}).get(names.KEY) or "")


def _is_ended(thing: Mapping[str, Any]) -> bool:
    return thing.get("status", {}).get("phase") in {"Succeeded", "Failed"}


def _slim(thing: Object) -> Object:
    """Drop what we never read: managedFields are half of an object."""
    thing["metadata"].pop("managedFields", None)
    return thing
