"""Run a job and save its outputs, where the portal cannot read the job's folders.

    python3 save_outputs.py PROGRAM [ARGUMENT…]

It starts the program, saves at the intervals of MUSTER_OUTPUTS, when a stop is announced, and after
the program's end, and exits as the program did. Files go to the portal with the token of the job.
A failure to save is reported to the portal and in the log; the program never sees it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from http.client import HTTPException
from typing import Any

from schedulers.programs.portal_api import Portal, PortalRefusal

YOUNG = 2.0  # seconds after a change in which a file may still be written
PIECE = 16 << 20  # bytes of a request for large files
MOST_FILES, DEPTH = 100_000, 40
MOST_ENTRIES = 2 * MOST_FILES  # with folders and what is left out
TICK_NS = 20_000_000  # file systems keep times to 4 or 10 ms
MOST_HELD = 64  # files that are kept open while they may be written
PATIENCE = 300.0  # seconds after the end for which a portal that does not answer is asked again
SOON = 5.0  # seconds until files are looked at again that were being written
Json = dict[str, Any]
Mark = tuple[int, int, int, int]  # of a file: size, times and inode
PROBLEMS = (PortalRefusal, OSError, HTTPException, ValueError)
# The same names as in jobs/saving/folder.py
UNFINISHED = re.compile(
    r".*\.(tmp|temp|part|partial|incomplete)\Z"
    r"|\.(tmp|temp|nfs|fuse_hidden|goutputstream|~).*\Z"
    r"|\..+\.([A-Za-z0-9]{6}|[A-Za-z0-9]{8})\Z"
    r"|tmp[-_.].*\Z"
)


class SavedFolder:
    """A folder of the job, and what was saved of it."""

    def __init__(self, portal: Portal, org: str, job: str, about: Json, folder: str):
        self.portal, self.name, self.folder = portal, about["name"], folder
        self.org, self.url = f"orgs/{org}", f"orgs/{org}/jobs/{job}/outputs/{about['name']}"
        self.every = about.get("every") or 0
        self.due: float | None = time.monotonic() + self.every if self.every else None
        self.index = about.get("index") or 0
        self.seen: dict[str, tuple[Mark, str]] = {}  # path -> (mark, SHA-256)
        self.saved: dict[str, Mark] | None = None  # what the last version was made of
        self.place: str | None = None  # address of its repository
        self.trouble = ""
        self.pause = SOON
        self.held: dict[str, tuple[Any, Mark]] = {}  # files that were being written, kept open
        self.notes: dict[str, list[str]] = {}  # why files are not saved -> their paths

    def save(
        self, until: float | None = None, has_succeeded: bool = False, is_end: bool = False
    ) -> bool:
        """Save what is whole. `until` is the time after which a changed file is not; None: all are.

        Returns whether everything was whole. Raises PortalRefusal, OSError.
        """
        self.notes = {}
        files, changing = self.listed(until, has_succeeded, is_end)
        cut = {}
        if is_end:
            cut = {path: mark for path in changing if (mark := self.mark(path))}
            changing = []
        complete = self.exchanged([] if is_end else changing)
        try:
            return self.save_files(files, changing, complete, cut, is_end)
        finally:
            for file, _ in complete.values():
                file.close()

    def save_files(
        self,
        files: dict[str, Mark],
        changing: list[str],
        complete: dict[str, tuple[Any, Mark]],
        cut: dict[str, Mark],
        is_end: bool,
    ) -> bool:
        """Save files of the folder, and `complete` ones that are open."""
        files = {**files, **{path: mark for path, (_, mark) in complete.items()}}
        changing = [path for path in changing if path not in complete]
        state = {**files, **cut}
        if not state or (state == self.saved and not is_end):
            if is_end:
                self.report(is_end=True)
            return not changing
        about = self.portal.send("POST", self.url, {"index": self.index})[1]
        self.place = f"{self.org}/{about['kind']}s/{about['repository']}"
        self.leave_out_large(state, about.get("room"))
        for attempt in (1, 2):
            shas, moving = self.hashed(state, complete)
            self.upload(shas, state, moving, complete)
            body = {
                "index": self.index,
                "files": rows(shas, cut, is_cut=False),
                "cut": rows(shas, cut, is_cut=True),
                "left_out": [*changing, *moving],
                "note": self.note(),
                "is_end": is_end,
            }
            try:
                self.portal.send("POST", f"{self.url}/versions", body)
                break
            except PortalRefusal as error:
                if error.code != "not_uploaded" or attempt == 2:
                    raise
                self.seen = {}
        self.saved = state if not moving else None
        self.trouble = ""
        return not changing and not moving

    def leave_out(self, why: str, path: str) -> None:
        """Note why a file is not saved."""
        self.notes.setdefault(why, []).append(path)

    def leave_out_large(self, files: dict[str, Mark], most: int | None) -> None:
        """Remove files for which the repository has no room, before a byte of them is read."""
        fresh = {path: mark for path, mark in files.items() if self.seen.get(path, (0,))[0] != mark}
        left = most
        for path, mark in sorted(fresh.items(), key=lambda item: item[1][0]):
            if left is None:
                return
            if mark[0] > left:
                self.leave_out(f"there is room for {left:,} bytes, and it has {mark[0]:,}", path)
                del files[path]
            else:
                left -= mark[0]

    def note(self) -> str:
        """Return a sentence for each reason with the first paths."""
        texts = (
            f"Not saved, because {why}: {', '.join(map(printable, paths[:5]))}"
            + (", …" if len(paths) > 5 else "")
            for why, paths in self.notes.items()
        )
        return " ".join(f"{text}." for text in texts)[:2000]

    def exchanged(self, changing: list[str]) -> dict[str, tuple[Any, Mark]]:
        """Return the files, held since the last time, that have not changed; hold the others.

        They are complete, even if another file has taken their place.
        """
        complete = {}
        for path, (file, mark) in self.held.items():
            now = mark_of(os.fstat(file.fileno()))
            is_old = now[1] <= (time.time() - YOUNG) * 1e9
            if path in changing and now[0] and now[:2] == mark[:2] and is_old:
                complete[path] = (file, now)
            else:
                file.close()
        self.held = {}
        for path in [path for path in changing if path not in complete][:MOST_HELD]:
            try:
                file = self.opened(path, {})
            except OSError:
                continue
            self.held[path] = (file, mark_of(os.fstat(file.fileno())))
        return complete

    def report(self, message: str = "", is_end: bool = False) -> None:
        """Tell the portal why nothing is saved, or that there is nothing more to save."""
        body = {"index": self.index, "message": message[:2000], "is_end": is_end}
        self.portal.send("PATCH", self.url, body)

    def listed(
        self, until: float | None, has_succeeded: bool, is_end: bool
    ) -> tuple[dict[str, Mark], list[str]]:
        """Return the marks of the files by path, and the paths of those that are being written."""
        files: dict[str, Mark] = {}
        changing: list[str] = []
        entries = 0
        for folder, below, names in os.walk(self.folder, onerror=self.not_readable):
            entries += len(below) + len(names)
            if entries > MOST_ENTRIES:
                raise PortalRefusal(0, "", f"It has more than {MOST_ENTRIES:,} files and folders.")
            try:
                folder_ns = os.stat(folder).st_mtime_ns
            except FileNotFoundError:  # the job has deleted it meanwhile
                below.clear()
                continue
            if not has_succeeded:
                self.leave_out_unfinished(folder, (below, names), is_end)
            links = [name for name in below if os.path.islink(os.path.join(folder, name))]
            self.leave_out_deep(folder, below, links)
            for path, facts in self.regular(folder, names + links):
                is_old = until is None or facts.st_mtime <= until - YOUNG
                if is_old or is_renamed(facts, folder_ns, is_end):
                    files[path] = mark_of(facts)
                else:
                    changing.append(path)
                if len(files) + len(changing) > MOST_FILES:
                    raise PortalRefusal(0, "", f"It has more than {MOST_FILES:,} files.")
        return files, changing

    def path_of(self, folder: str, name: str) -> str:
        return os.path.relpath(os.path.join(folder, name), self.folder)

    def not_readable(self, error: OSError) -> None:
        if isinstance(error, PermissionError):
            self.leave_out("the job may not read it", self.path_of(error.filename, ""))

    def leave_out_unfinished(self, folder: str, groups: Any, is_end: bool) -> None:
        for group in groups:
            for name in [name for name in group if UNFINISHED.match(name)]:
                group.remove(name)
                if is_end:
                    why = "its name is that of an unfinished file"
                    self.leave_out(why, self.path_of(folder, name))

    def leave_out_deep(self, folder: str, below: list[str], links: list[str]) -> None:
        if self.path_of(folder, "x").count("/") >= DEPTH:
            for name in set(below).difference(links):
                why = f"it is more than {DEPTH} folders deep"
                self.leave_out(why, self.path_of(folder, name))
            below.clear()

    def regular(self, folder: str, names: list[str]) -> Any:
        """Yield path and facts of the regular files of a folder with names that a version can have."""
        for name in names:
            path = self.path_of(folder, name)
            try:
                facts = os.lstat(os.path.join(folder, name))
                path.encode()
            except UnicodeEncodeError:
                self.leave_out("a version cannot have such a name", path)
                continue
            except OSError:
                continue
            if stat.S_ISREG(facts.st_mode):
                yield path, facts
            else:
                self.leave_out("it is a link or not a regular file", path)

    def mark(self, path: str) -> Mark | None:
        """Return the mark of a file; None if it is gone."""
        try:
            return mark_of(os.lstat(os.path.join(self.folder, path)))
        except OSError:
            return None

    def hashed(
        self, files: dict[str, Mark], complete: dict[str, tuple[Any, Mark]]
    ) -> tuple[dict[str, str], list[str]]:
        """Return SHA-256 by path, and the paths of files that changed while they were read."""
        shas: dict[str, str] = {}
        moving: list[str] = []
        for path, mark in list(files.items()):
            known = self.seen.get(path)
            if known is None or known[0] != mark:
                try:
                    known = (mark, self.sha256(path, mark, complete))
                except PermissionError:
                    self.leave_out("the job may not read it", path)
                    del files[path]
                    continue
            if known[1]:
                self.seen[path] = known
                shas[path] = known[1]
            else:
                moving.append(path)
        return shas, moving

    def sha256(self, path: str, mark: Mark, complete: dict[str, tuple[Any, Mark]]) -> str:
        """Return the SHA-256 of a file; "" if it changed meanwhile. Raises PermissionError."""
        digest, left = hashlib.sha256(), mark[0]
        try:
            with self.opened(path, complete) as file:
                while left and (data := file.read(min(1 << 20, left))):
                    digest.update(data)
                    left -= len(data)
                is_whole = not left and is_unchanged(os.fstat(file.fileno()), mark)
                return digest.hexdigest() if is_whole else ""
        except PermissionError:
            raise
        except OSError:
            return ""

    def opened(self, path: str, complete: dict[str, tuple[Any, Mark]]) -> Any:
        """Open a file of the folder, or one that is held open from its start."""
        if path in complete:
            file = os.fdopen(os.dup(complete[path][0].fileno()), "rb")
            file.seek(0)
            return file
        return open(os.path.join(self.folder, path), "rb", opener=without_links)

    def upload(
        self,
        shas: dict[str, str],
        files: dict[str, Mark],
        moving: list[str],
        complete: dict[str, tuple[Any, Mark]],
    ) -> None:
        """Send the files that the repository does not have."""
        wanted = {sha: path for path, sha in shas.items()}
        digests = sorted(wanted)
        for start in range(0, len(digests), 1000):
            part = digests[start : start + 1000]
            found = self.portal.send("POST", f"{self.place}/contents", {"sha256": part})[1]
            known = {item["sha256"] for item in found["items"]}
            for sha in part:
                if sha not in known and not self.send_file(wanted[sha], sha, files, complete):
                    for path in [path for path, one in shas.items() if one == sha]:
                        del shas[path]
                        self.seen.pop(path, None)
                        moving.append(path)

    def send_file(
        self,
        path: str,
        sha: str,
        files: dict[str, Mark],
        complete: dict[str, tuple[Any, Mark]],
    ) -> bool:
        """Send one file; return False if it changed meanwhile, or is refused."""
        size = files[path][0]
        try:
            with self.opened(path, complete) as file:
                if size <= PIECE:
                    url = f"{self.place}/contents?sha256={sha}"
                    kind = {"Content-Type": "application/octet-stream"}
                    self.portal.send("PUT", url, file.read(size), kind)
                else:
                    self.send_pieces(file, path, sha, size)
        except FileNotFoundError:
            return False
        except PortalRefusal as error:
            if error.code in ("quota_exceeded", "too_large"):
                self.leave_out(f"of this answer: {error}", path)
            elif error.code not in ("checksum", "incomplete"):
                raise
            return False
        return True

    def send_pieces(self, file: Any, path: str, sha: str, size: int) -> None:
        """Send a large file by tus 1.0; a piece that failed is sent again from where it arrived."""
        meta = ",".join(
            f"{key} {base64.b64encode(value.encode()).decode()}"
            for key, value in (("filename", path), ("sha256", sha))
        )
        tus = {"Tus-Resumable": "1.0.0"}
        headers, _ = self.portal.send(
            "POST",
            f"{self.place}/uploads",
            headers={**tus, "Upload-Length": str(size), "Upload-Metadata": meta},
        )
        where = f"{self.place}/uploads/{headers['Location'].rstrip('/').rpartition('/')[2]}"
        at = failures = 0
        while at < size:
            file.seek(at)
            data = file.read(PIECE)
            if not data:
                raise PortalRefusal(0, "incomplete", "The file became shorter.")
            kind = {**tus, "Content-Type": "application/offset+octet-stream"}
            try:
                self.portal.send("PATCH", where, data, {**kind, "Upload-Offset": str(at)})
                at += len(data)
                failures = 0
            except (OSError, HTTPException):
                failures += 1
                if failures > 5:
                    raise
                time.sleep(failures)
                at = int(self.portal.send("HEAD", where, headers=tus)[0]["Upload-Offset"])


def mark_of(facts: os.stat_result) -> Mark:
    return (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)


def is_unchanged(facts: os.stat_result, mark: Mark) -> bool:
    """Tell whether an open file has the bytes of its mark, also if it was replaced meanwhile."""
    after = mark_of(facts)
    return after == mark or (not facts.st_nlink and after[:2] == mark[:2])


def is_renamed(facts: os.stat_result, folder_ns: int, has_ended: bool) -> bool:
    """Tell whether a file came to its place after its last write (jobs/saving/folder.py)."""
    if not facts.st_size:
        return False
    if facts.st_ctime_ns > facts.st_mtime_ns:
        return True
    return has_ended and 0 <= folder_ns - facts.st_mtime_ns <= TICK_NS


def without_links(path: str, flags: int) -> int:
    """Open a file, but no link and no pipe that would wait."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def printable(path: str) -> str:
    """Return a path as text that prints, whatever is in it."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in path)
    return text if len(text) <= 120 else f"{text[:60]}…{text[-50:]}"


def rows(shas: dict[str, str], cut: dict[str, Mark], *, is_cut: bool) -> list[Json]:
    """Return the files that may be cut, or the others, as the portal takes them."""
    return [{"path": path, "sha256": sha} for path, sha in shas.items() if (path in cut) is is_cut]


class Saver:
    """Save all outputs in a thread while the program runs."""

    def __init__(self, outputs: list[SavedFolder]):
        self.outputs = outputs
        self.wake, self.is_over = threading.Event(), False
        self.is_stopping = False
        self.thread = threading.Thread(target=self.loop, daemon=True)

    def loop(self) -> None:
        while not self.is_over:
            times = [output.due for output in self.outputs if output.due is not None]
            left = max(min(times) - time.monotonic(), 0) if times else None
            self.wake.wait(left)
            if self.is_over:
                return
            is_asked, self.is_stopping = self.is_stopping, False
            self.wake.clear()
            for output in self.outputs:
                is_due = output.due is not None and output.due <= time.monotonic()
                if (is_asked or is_due) and not self.is_over:
                    self.save(output)

    def save(self, output: SavedFolder) -> None:
        every = output.every
        try:
            is_whole = output.save(until=time.time())
            pause, output.pause = (every if is_whole else min(SOON, every)), SOON
        except PROBLEMS as error:
            complain(output, error)
            pause, output.pause = output.pause, min(output.pause * 2, PATIENCE)
        output.due = time.monotonic() + pause if every else None

    def finish(self, code: int, cut_at: float | None, limit: float) -> None:
        """Save what the program has left, until `limit` seconds have passed."""
        self.is_over = True
        self.wake.set()
        self.thread.join()
        deadline = time.monotonic() + limit
        for output in self.outputs:
            pause = 1.0
            while True:
                try:
                    output.save(until=cut_at, has_succeeded=code == 0, is_end=True)
                    break
                except PROBLEMS as error:
                    complain(output, error)
                    if time.monotonic() + pause > deadline:
                        print(
                            f"muster: output {output.name} was not saved: {error}",
                            file=sys.stderr,
                            flush=True,
                        )
                        break
                    time.sleep(pause)
                    pause = min(pause * 2, 30)


def complain(output: SavedFolder, error: Exception) -> None:
    """Report a failure once, in the log and to the portal."""
    text = str(error)
    if text == output.trouble:
        return
    output.trouble = text
    print(f"muster: output {output.name} could not be saved: {text}", file=sys.stderr, flush=True)
    try:
        output.report(text)
    except PROBLEMS:
        pass


def started(argv: list[str]) -> subprocess.Popen[bytes]:
    """Start the program; by a shell where temporary files may not be executed."""
    try:
        return subprocess.Popen(argv)
    except PermissionError:
        return subprocess.Popen(["bash", *argv])


def main(argv: list[str]) -> None:
    outputs: list[SavedFolder] = []
    if os.environ.get("NODE_RANK", "0") == "0":  # the first node saves for all
        portal = Portal(os.environ["MUSTER_URL"], os.environ["MUSTER_TOKEN"])
        org, job = os.environ["MUSTER_ORG"], os.environ["MUSTER_JOB_ID"]
        for about in json.loads(os.environ["MUSTER_OUTPUTS"]):
            folder = os.environ[about["variable"]]
            outputs.append(SavedFolder(portal, org, job, about, folder))
    if not outputs:
        os.execvp(argv[0], argv)
    child = started(argv)
    saver = Saver(outputs)
    asked: list[float] = []

    def stop(_number: int, _frame: Any) -> None:  # the whole process group has received it
        asked.append(time.monotonic())
        saver.is_stopping = True
        saver.wake.set()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, lambda number, frame: child.send_signal(number))
    saver.thread.start()
    code = child.wait()
    is_killed = code in (-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGBUS, 128 + signal.SIGKILL)
    grace = float(os.environ.get("MUSTER_SAVE_GRACE", "30"))
    limit = grace - (time.monotonic() - asked[0]) if asked else PATIENCE
    saver.finish(code, time.time() if is_killed else None, max(limit, 1.0))
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main(sys.argv[1:])
