"""Part of the double of Kubernetes: objects, selectors, and the change log for watches."""

from __future__ import annotations

import copy
import re
import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any

Object = dict[str, Any]
Name = tuple[str, str, str]  # plural, namespace, name
# Seconds by which the cluster's clock is ahead; set by tests.
skew = timedelta(0)


class Answer(Exception):
    """A Status other than success."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        causes: tuple[tuple[str, str], ...] = (),
        after: int = 0,
    ):
        super().__init__(message)
        self.code, self.after = code, after
        self.body = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "code": code,
            "reason": reason,
            "message": message,
            "details": {"causes": [{"field": path, "message": text} for path, text in causes]},
        }


class Store:
    """All objects. `changed` wakes watches; changes before `oldest` are compacted."""

    def __init__(self, name: str = "Kubernetes double") -> None:
        self.name = name  # of its threads
        self.changed = threading.Condition(threading.RLock())
        self.objects: dict[Name, Object] = {}
        self.changes: list[tuple[int, str, str, Object]] = []
        self.version, self.oldest = 1000, 0
        self.claims: set[str] = (
            set()
        )  # of volumes in every namespace; pods find them at their paths on this machine
        self.volumes: dict[str, str] = {}  # folders of claims whose parts are mounted (`subPath`)
        self.listeners: list[Callable[[str, str, Object], None]] = []

    def start(self, target: Callable[..., None], *given: Any) -> threading.Thread:
        """Act on a change in a thread, as another process would."""
        made = threading.Thread(target=target, args=given, name=self.name, daemon=True)
        made.start()
        return made

    def create(
        self, plural: str, namespace: str, made: Object, *, is_rehearsal: bool = False
    ) -> Object:
        with self.changed:
            made = copy.deepcopy(made)
            meta = made.setdefault("metadata", {})
            if namespace and ("namespaces", "", namespace) not in self.objects:
                raise Answer(404, "NotFound", f'namespaces "{namespace}" not found')
            if (plural, namespace, meta["name"]) in self.objects:
                raise Answer(409, "AlreadyExists", f'{plural} "{meta["name"]}" already exists')
            meta.update(
                uid=str(uuid.uuid4()),
                creationTimestamp=now(),
                **({"namespace": namespace} if namespace else {}),
            )
            return made if is_rehearsal else self._put("ADDED", plural, made)

    def update(
        self, plural: str, namespace: str, name: str, change: Callable[[Object], None]
    ) -> Object:
        with self.changed:
            thing = copy.deepcopy(self.get(plural, namespace, name))
            change(thing)
            return self._put("MODIFIED", plural, thing)

    def remove(self, plural: str, namespace: str, name: str, uid: str = "") -> Object:
        with self.changed:
            thing = self.get(plural, namespace, name)
            if uid and uid != thing["metadata"]["uid"]:
                raise Answer(
                    409,
                    "Conflict",
                    f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
                    f"{thing['metadata']['uid']}",
                )
            del self.objects[plural, namespace, name]
            return self._tell("DELETED", plural, copy.deepcopy(thing))

    def get(self, plural: str, namespace: str, name: str) -> Object:
        with self.changed:
            try:
                return self.objects[plural, namespace, name]
            except KeyError:
                raise Answer(404, "NotFound", f'{plural} "{name}" not found') from None

    def all(self, plural: str, namespace: str, labels: str = "", fields: str = "") -> list[Object]:
        with self.changed:
            found = [
                (name, thing)
                for name, thing in self.objects.items()
                if name[0] == plural
                and namespace in {"", name[1]}
                and selects(thing, labels, fields)
            ]
            return [thing for _, thing in sorted(found, key=itemgetter(0))]

    def forget_changes(self) -> None:
        """Compact the changes: older versions get a 410."""
        with self.changed:
            self.version += 1
            self.oldest = self.version
            self.changes.clear()
            self.changed.notify_all()

    def _put(self, kind: str, plural: str, thing: Object) -> Object:
        meta = thing["metadata"]
        self.objects[plural, meta.get("namespace", ""), meta["name"]] = thing
        return self._tell(kind, plural, thing)

    def _tell(self, kind: str, plural: str, thing: Object) -> Object:
        self.version += 1
        thing["metadata"]["resourceVersion"] = str(self.version)
        self.changes.append((self.version, kind, plural, copy.deepcopy(thing)))
        self.changed.notify_all()
        for listener in self.listeners:
            listener(kind, plural, copy.deepcopy(thing))
        return copy.deepcopy(thing)


def instant() -> datetime:
    """Return the time by the cluster's clock."""
    return datetime.now(UTC) + skew


def now() -> str:
    return instant().strftime("%Y-%m-%dT%H:%M:%SZ")


def selects(thing: Object, labels: str, fields: str) -> bool:
    """Evaluate "a=b,c in (d,e)" over labels, or "status.phase!=Failed,reason=x" over fields."""
    has = thing["metadata"].get("labels", {})
    for part in re.findall(r"[^,(]+(?:\([^)]*\))?", labels):
        key, is_set, values = part.strip().partition(" in ")
        if is_set and has.get(key) not in values.strip("() ").split(","):
            return False
        if not is_set and has.get(part.partition("=")[0]) != part.partition("=")[2]:
            return False
    return all(_field(thing, part) for part in fields.split(",") if part)


def _field(thing: Object, part: str) -> bool:
    path, _, value = part.partition("=")
    found: Any = thing
    for step in path.removesuffix("!").split("."):
        found = found.get(step, "") if isinstance(found, dict) else ""
    return (found != value) if path.endswith("!") else (found == value)


def merge(into: Object, change: Object) -> None:
    """Apply a merge patch (RFC 7386) in place."""
    for name, value in change.items():
        if value is None:
            into.pop(name, None)
        elif isinstance(value, dict):
            if not isinstance(into.get(name), dict):
                into[name] = {}
            merge(into[name], value)
        else:
            into[name] = value
