"""Fetch versions of datasets from the portal into a folder of the node, then start a program.

    python3 fetch_inputs.py SETTINGS.json [-- PROGRAM ARGUMENT…]

A version appears in FOLDER under its name once all its files are there and have their SHA-256; an
earlier attempt that was cut off is continued. Jobs on one node share the folder: one fetches, and
the others wait for it. The program inherits a lock on what it reads, and what nobody has locked
is removed, the least recently used first, when all together would be larger than the limit.
"""

from __future__ import annotations

import fcntl
import hashlib
import http.client
import json
import os
import shutil
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from schedulers.programs.portal_api import Portal, PortalRefusal

T = TypeVar("T")
Json = dict[str, Any]
THREADS, PAGE, PIECE, TRIES = 8, 1000, 1 << 20, 6
SMALL, BATCH, BATCH_BYTES = 256 << 10, 250, 8 << 20  # of files that come in one request
FAILED = 76


class Failure(Exception):
    """A version cannot be fetched, and trying again does not help."""


def again(work: Callable[[], T], portal: Portal) -> T:
    """Do something that the network may cut off."""
    for tries in range(1, TRIES + 1):
        try:
            return work()
        except (OSError, http.client.HTTPException, ValueError) as error:
            portal.drop()
            if tries == TRIES or getattr(error, "errno", None) in LASTING:
                raise Failure(str(error) or type(error).__name__) from error
            time.sleep(min(2.0**tries / 2, 15))
    raise AssertionError


LASTING = (13, 28, 30, 36, 122)  # EACCES, ENOSPC, EROFS, ENAMETOOLONG, EDQUOT


def read(portal: Portal, path: str) -> Json:
    return dict(again(lambda: portal.send("GET", path)[1], portal))


def files_of(portal: Portal, entry: Json) -> Iterator[Json]:
    after: Any = ""
    while True:
        query = {"revision": entry["commit"], "recursive": 1, "limit": PAGE, "after": after}
        page = read(portal, f"{entry['path']}/tree?{urlencode(query)}")
        yield from page["items"]
        after = page.get("next")
        if not after:
            return


def inside(root: str, path: str) -> str:
    """Return where a file goes: names are data, and never lead out of the folder."""
    names = path.split("/")
    if {"", ".", ".."} & set(names) or "\0" in path:
        raise Failure(f"{path[:200]!r} is no relative path")
    return os.path.join(root, *names)


def fetch_file(portal: Portal, entry: Json, root: str, row: Json) -> None:
    target = inside(root, row["path"])
    os.makedirs(os.path.dirname(target), exist_ok=True)
    where = f"{entry['path']}/files/{entry['commit']}/{quote(row['path'])}"

    def receive() -> None:
        digest, have = hashlib.sha256(), 0
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        with os.fdopen(os.open(target, flags, 0o600), "r+b") as out:
            for piece in iter(lambda: out.read(PIECE), b""):  # of an attempt that was cut off
                digest.update(piece)
                have += len(piece)
            if have > row["bytes"]:
                restart(out)
            if have < row["bytes"]:
                asked = {"Range": f"bytes={have}-"} if have else None
                answer = portal.open("GET", where, headers=asked)
                if answer.status == 200 and have:
                    portal.drop()
                    restart(out)
                for piece in iter(lambda: answer.read(PIECE), b""):
                    out.write(piece)
                    digest.update(piece)
                    have += len(piece)
            if have < row["bytes"]:
                raise OSError(f"{have} of {row['bytes']} bytes came")
            if digest.hexdigest() != row["sha256"]:
                restart(out)

    def restart(out: Any) -> None:
        out.truncate(0)
        raise OSError(f"{row['path']} was damaged on the way")

    again(receive, portal)


def batches(rows: Iterator[Json]) -> Iterator[list[Json]]:
    """Yield small files together, and each larger one alone."""
    ready: list[Json] = []
    total = 0
    for row in rows:
        if row["bytes"] > SMALL:
            yield [row]
            continue
        if len(ready) == BATCH or total + row["bytes"] > BATCH_BYTES:
            yield ready
            ready, total = [], 0
        ready.append(row)
        total += row["bytes"]
    if ready:
        yield ready


def fetch_small(portal: Portal, entry: Json, root: str, rows: list[Json]) -> None:
    """Fetch small files in one request; what did not come so is fetched alone, which says why."""
    body = json.dumps({"paths": [row["path"] for row in rows]}).encode()
    headers = {"Content-Type": "application/json"}
    try:
        where = f"{entry['path']}/downloads/{entry['commit']}"
        data = portal.open("POST", where, body, headers).read()
    except (PortalRefusal, OSError, http.client.HTTPException):
        portal.drop()
        data = b""
    at = 0
    for row in rows:
        content, at = data[at : at + row["bytes"]], at + row["bytes"]
        target = inside(root, row["path"])
        if hashlib.sha256(content).hexdigest() == row["sha256"] and not os.path.lexists(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "xb", opener=private) as out:
                out.write(content)
        else:
            fetch_file(portal, entry, root, row)


def private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def fetch(portal: Portal, entry: Json, aside: str, target: str) -> None:
    os.makedirs(aside, exist_ok=True)
    stop = threading.Event()
    ready, lock = batches(files_of(portal, entry)), threading.Lock()

    def work() -> None:
        while not stop.is_set():
            with lock:
                rows = next(ready, [])
            if not rows:
                return
            if len(rows) > 1:
                fetch_small(portal, entry, aside, rows)
            else:
                fetch_file(portal, entry, aside, rows[0])

    with ThreadPoolExecutor(THREADS) as pool:
        try:
            for done in as_completed([pool.submit(work) for _ in range(THREADS)]):
                done.result()
        finally:
            stop.set()
    for folder, _names, files in os.walk(aside, topdown=False):
        for name in files:
            os.chmod(os.path.join(folder, name), 0o444)
        if folder != aside:
            os.chmod(folder, 0o555)  # noqa: S103  nobody may write
    os.rename(aside, target)
    os.chmod(target, 0o555)  # noqa: S103


def remove(path: str) -> None:
    for folder, names, _files in os.walk(path):
        for name in [".", *names]:
            os.chmod(os.path.join(folder, name), 0o700)
    shutil.rmtree(path)


def free_space(folder: str, size: int, limit: int) -> None:
    """Remove what was not used for longest and nobody reads, until a version fits."""
    trees = []
    for name in os.listdir(folder):
        if name.endswith(".lock") and os.path.isdir(os.path.join(folder, name[:-5])):
            path = os.path.join(folder, name)
            with open(path) as lock:
                bytes_ = int(lock.read() or 0)
            trees.append((os.stat(path).st_mtime, bytes_, path))
    total = size + sum(bytes_ for _, bytes_, _ in trees)
    for _, bytes_, path in sorted(trees):
        if total <= limit:
            return
        with open(path, "r+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # a job reads it
                continue
            remove(path[:-5])
            total -= bytes_


def folder_of_user(above: str) -> str:
    """Make the folder of this user, which nobody else may have made: it could hold other files."""
    folder = f"{above}-{os.getuid()}"
    os.makedirs(folder, mode=0o700, exist_ok=True)
    facts = os.lstat(folder)
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o022:
        raise Failure(f"{folder} is not a folder that only this user may change")
    return folder


def provide(portal: Portal, entry: Json, folder: str, limit: int) -> int:
    """Make a version available; return the descriptor of its lock, which is kept."""
    target = os.path.join(folder, entry["folder"])
    handle = os.open(target + ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    while True:
        fcntl.flock(handle, fcntl.LOCK_SH)
        if os.path.isdir(target):
            os.utime(handle)
            os.set_inheritable(handle, True)
            return handle
        fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.isdir(target):
            continue
        if limit:
            free_space(folder, entry["bytes"], limit)
        fetch(portal, entry, os.path.join(folder, "." + entry["folder"]), target)
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(entry["bytes"]).encode(), 0)


def main(argv: list[str]) -> int:
    with open(argv[0], encoding="utf-8") as file:
        settings = json.load(file)
    text = "the inputs"
    try:
        portal = Portal(settings["url"], settings["token"])
        folder = settings["folder"]
        if settings.get("is_of_user"):
            folder = folder_of_user(folder)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for entry in settings["inputs"]:
            text = entry["text"]
            provide(portal, entry, folder, settings["limit"])
    except (Failure, PortalRefusal, OSError) as error:
        why = " ".join(str(error).split())[:500]
        said = f"muster: Fetching {text} failed: {why}"
        print(said, flush=True)
        try:
            with open("/dev/termination-log", "w") as log:
                log.write(said[len("muster: ") :])
        except OSError:
            pass
        return FAILED
    if settings.get("done"):
        try:
            os.unlink(settings["done"])
        except OSError:  # another node was faster
            pass
    if len(argv) > 2:
        os.execvp(argv[2], argv[2:])  # noqa: S606  the job
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
