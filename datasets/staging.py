"""Make read-only folders of versions, which jobs read in place.

    <data>/trees/<organization>/<commit>-<key>/   the files of a version
    <data>/trees/<organization>/.<random>         a tree that is being made or removed
    <data>/trees/<organization>/lock              see below

Files are hard links to those of `portal.blobs.files`, which cost no space; where links are not
possible, clones or copies. They have mode 0444 and folders 0555, and the folders above can be
entered but not listed by others, so the key, which only the portal can compute, keeps a version
from users of the machine who were never given its path. A tree appears under its name once it is
complete. Its modification time is its last use, renewed under the shared lock; it is removed under
the exclusive one.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from uuid import UUID, uuid4

from django.conf import settings
from django.utils.crypto import salted_hmac

from datasets.models import Version
from datasets.selectors import tree_of
from datasets.trees import TreeEntry
from datasets.uses import commits_in_use
from portal.blobs.store import file_store
from portal.core import clock
from portal.core.disk import full_disk
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message

THREADS = 4
_AT_ONCE = 500  # files a thread takes at a time
_NO_LINK = {errno.EXDEV, errno.EMLINK, errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP}
_FICLONE = 0x40049409  # ioctl of Linux: share the blocks of a file


def tree_name(org_id: UUID, commit: str) -> str:
    """Return the path of a version's tree below the data folder. It may not exist."""
    key = salted_hmac("datasets.trees", f"{org_id.hex} {commit}", algorithm="sha256").hexdigest()
    return f"trees/{org_id.hex}/{commit}-{key[:16]}"


def materialize(version: Version) -> str:
    """Make the tree of a version unless it exists; return its path below the data folder.

    Raises NotFound if bytes are missing, InvalidInput for a name that the file system refuses,
    Unavailable if the disk is full.
    """
    name = tree_name(version.org_id, version.commit)
    target = Path(settings.MUSTER_HOME) / name
    if _renew(target):
        return name
    aside = target.parent / f".{uuid4().hex}"
    try:
        _make(version, aside)
        with suppress(OSError):  # another process was faster
            os.rename(aside, target)
    except OSError as error:
        raise full_disk(error) or error from error
    finally:
        if aside.exists():
            _remove(aside)
    if not _renew(target):
        raise FileNotFoundError(target)
    return name


def remove_unused(before: datetime) -> int:
    """Remove trees that were last used before a time and that no job needs; return their number."""
    removed = 0
    root = Path(settings.MUSTER_HOME) / "trees"
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        needed = commits_in_use(UUID(folder.name))
        for path in sorted(folder.iterdir()):
            if path.is_dir() and path.name.partition("-")[0] not in needed:
                removed += _remove_if_old(path, before)
    return removed


def _make(version: Version, root: Path) -> None:
    for folder in (root.parent.parent, root.parent):
        folder.mkdir(mode=0o711, exist_ok=True)
        folder.chmod(0o711)
    root.mkdir(mode=0o700)
    entries = list(tree_of(version).entries())
    folders = sorted({above for entry in entries for above in _folders(entry.path)})
    try:
        for path in folders:
            os.mkdir(f"{root}/{path}", 0o700)
        with ThreadPoolExecutor(THREADS) as pool:
            batches = (entries[at : at + _AT_ONCE] for at in range(0, len(entries), _AT_ONCE))
            for done in [pool.submit(_link, version.org_id, root, batch) for batch in batches]:
                done.result()
    except (FileExistsError, UnicodeEncodeError) as error:
        raise _refused(str(getattr(error, "filename", "")).removeprefix(f"{root}/")) from error
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL):
            raise _refused(str(error.filename).removeprefix(f"{root}/")) from error
        raise
    for path in reversed(folders):
        (root / path).chmod(0o555)
    root.chmod(0o555)


def _folders(path: str) -> Iterator[str]:
    """Yield the folders above a file, and refuse what is no relative path."""
    names = path.split("/")
    if {"", ".", ".."} & set(names) or "\0" in path:
        raise _refused(path)
    for count in range(1, len(names)):
        yield "/".join(names[:count])


def _link(org_id: UUID, root: Path, entries: Sequence[TreeEntry]) -> None:
    store = file_store()
    for entry in entries:
        target = f"{root}/{entry.path}"
        try:
            source = store.local(org_id, entry.sha256)
            os.link(source, target)
        except (FileNotFoundError, NotFound):
            raise NotFound(
                Message(
                    "The bytes of {path} are missing from the disk of the portal.", path=entry.path
                ),
                code="bytes_missing",
            ) from None
        except OSError as error:
            if error.errno not in _NO_LINK:
                raise
            _copy(source, target)
        os.chmod(target, 0o444)


def _copy(source: Path, target: str) -> None:
    """Copy a file, without using space where the file system can share blocks."""
    with open(source, "rb") as given, open(target, "xb") as made:
        try:
            fcntl.ioctl(made.fileno(), _FICLONE, given.fileno())
        except OSError:
            shutil.copyfileobj(given, made, 1 << 20)
            made.flush()
            os.fsync(made.fileno())


def _renew(target: Path) -> bool:
    """Record that a tree is used; return whether it exists."""
    if not target.is_dir():
        return False
    with _locked(target.parent, fcntl.LOCK_SH), suppress(FileNotFoundError):
        os.utime(target, (at := clock.now().timestamp(), at))
        return True
    return False


def _remove_if_old(path: Path, before: datetime) -> bool:
    aside = path.parent / f".{uuid4().hex}"
    with _locked(path.parent, fcntl.LOCK_EX):
        if path.stat().st_mtime >= before.timestamp():
            return False
        path.chmod(0o700)  # a folder can only be renamed by whoever may write to it
        os.rename(path, aside)
    _remove(aside)
    return True


def _remove(path: Path) -> None:
    for folder, names, _files in os.walk(path):
        os.chmod(folder, 0o700)
        for name in names:
            os.chmod(os.path.join(folder, name), 0o700)
    shutil.rmtree(path)


@contextmanager
def _locked(folder: Path, kind: int) -> Iterator[None]:
    with open(folder / "lock", "ab", opener=_private) as lock:
        fcntl.flock(lock, kind)
        yield


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _refused(path: str) -> InvalidInput:
    return InvalidInput(
        Message(
            "{path} can't be a file on the portal's file system: its name is too long, or differs "
            "from another one only in a way that the file system ignores.",
            path=repr(path[:200]),
        ),
        code="no_file_name",
    )
