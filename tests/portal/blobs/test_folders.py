"""Files of shared folders, and what a hostile job may leave among them."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from contextlib import suppress
from datetime import timedelta

import pytest

from portal.blobs.folders import SharedTree, sweep
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound, PortalError

SECRET = b"secret of another tenant"


@pytest.fixture
def tree(tmp_path):
    tree = SharedTree(tmp_path / "root" / "org", "folder")
    tree.create()
    return tree


@pytest.fixture
def outside(tmp_path):
    """A folder of somebody else with a file."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_bytes(SECRET)
    return folder


def put(tree, path, data=b"new", **more):
    aside = tree.start()
    aside.append(0, [data], limit=1 << 20)
    try:
        return tree.place(aside, path, **more)
    finally:
        aside.discard()


def read(tree, path):
    with tree.open(path) as file:
        return file.read()


def test_files_are_written_whole_listed_moved_and_deleted(tree):
    assert put(tree, "code/a.py", b"1") == 0
    assert put(tree, "code/a.py", b"22") == 1
    assert (read(tree, "code/a.py"), tree.entry("code/a.py").size) == (b"22", 2)
    with pytest.raises(Conflict):
        put(tree, "code/a.py", replaces=False)
    with pytest.raises(Conflict):
        put(tree, "code")
    with pytest.raises(Conflict):
        put(tree, "code/a.py/b")
    assert (tree.make_folder("code/x/y"), tree.make_folder("code/x/y")) == (True, False)
    for name in ("c", "b", "d"):
        put(tree, f"many/{name}")
    assert [one.name for one in tree.listing("many", after="b", limit=1)] == ["c"]
    assert b"".join(tree.read("many/c", 1, 3)) == b"ew"
    tree.move("many", "code/x/many")
    with pytest.raises(Conflict):
        tree.move("code/a.py", "code/x/many/b")
    assert tree.move("code/a.py", "code/x/many/b", replaces=True) == 3
    with pytest.raises(InvalidInput):
        tree.move("code", "code/x/inside")
    assert tree.usage() == (3, 8)
    assert [one.path for one in tree.walk("code/x/many")] == [
        f"code/x/many/{n}" for n in ("b", "c", "d")
    ]
    assert tree.delete("code") == 8
    assert tree.usage() == (0, 0)
    with pytest.raises(NotFound):
        tree.delete("code")


def test_files_are_writable_by_the_users_of_jobs_whatever_their_umask(tree):
    put(tree, "code/a.py")
    before = os.umask(0o077)
    try:
        (tree.path / "code" / "by-job").mkdir()
        (tree.path / "code" / "by-job" / "b").write_bytes(b"b")
    finally:
        os.umask(before)
    for name, mode in (
        ("code", 0o777),
        ("code/a.py", 0o666),
        ("code/by-job", 0o777),
        ("code/by-job/b", 0o666),
    ):
        assert stat.S_IMODE((tree.path / name).stat().st_mode) == mode, name
    # Others pass through it to a folder whose random name they know, and cannot list it
    assert stat.S_IMODE(tree.path.parent.stat().st_mode) == 0o711


@pytest.mark.parametrize(
    "path",
    ["..", "../x", "a/../../x", "a/..", "./a", "a/./b", "a//b", "a\x00b", "a\nb", "x" * 256]
    + ["/".join(["y" * 200] * 21), "/".join("a" * 200), "\udcff"],
)
def test_paths_that_are_no_names_are_refused(tree, path):
    for act in (tree.entry, tree.open, tree.listing, tree.make_folder, tree.delete):
        with pytest.raises(InvalidInput):
            act(path)
    with pytest.raises(InvalidInput):
        put(tree, path)
    put(tree, "file")
    with pytest.raises(InvalidInput):
        tree.move("file", path)


def test_names_that_look_dangerous_are_only_names(tree):
    for name in ("%2e%2e", "C:", "a\\b", "…", "-rf", "~", "$HOME", "\u202egpj.exe", "a" * 255):
        put(tree, f"{name}/{name}", name.encode())
        assert read(tree, f"{name}/{name}") == name.encode()
    os.mkdir(os.fsencode(tree.path) + b"/\xff\xfe")
    (tree.path / "two\nlines").touch()
    shown = {one.shown_name for one in tree.listing("") if not one.is_nameable}
    assert shown == {"\\xff\\xfe", "two\\nlines"}


def test_links_of_a_job_lead_nowhere(tree, outside):
    put(tree, "real/file")
    links = {
        "file": outside / "secret",
        "folder": outside,
        "root": "/",
        "up": "../../..",
        "inside": "real",
        "loop": "loop",
        "dangling": outside / "new",
    }
    for name, target in links.items():
        (tree.path / name).symlink_to(target)
    assert {one.name: one.kind for one in tree.listing("")} == {
        **dict.fromkeys(links, "link"),
        "real": "folder",
    }
    for name in links:
        for act in (
            lambda name=name: tree.open(name),
            lambda name=name: tree.listing(name),
            lambda name=name: tree.open(f"{name}/secret"),
            lambda name=name: tree.entry(f"{name}/secret"),
            lambda name=name: put(tree, f"{name}/new"),
            lambda name=name: tree.make_folder(f"{name}/new"),
            lambda name=name: tree.make_folder(name),
            lambda name=name: tree.delete(f"{name}/secret"),
            lambda name=name: tree.move("real/file", f"{name}/new"),
            lambda name=name: tree.move(f"{name}/secret", "stolen"),
        ):
            with pytest.raises((NotFound, Conflict)):
                act()
    put(tree, "file")  # replaces the link, not what it names
    put(tree, "dangling")
    assert tree.usage() == (3, 9)
    for name in links:
        tree.delete(name)
    assert os.listdir(outside) == ["secret"]
    assert (outside / "secret").read_bytes() == SECRET
    assert read(tree, "real/file") == b"new"


def test_pipes_sockets_and_devices_are_not_opened(tree):
    os.mkfifo(tree.path / "pipe")
    if os.geteuid() == 0:
        os.mknod(tree.path / "device", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    for entry in tree.listing(""):
        assert entry.kind == "other"
        with pytest.raises(NotFound):
            tree.open(entry.path)
        tree.delete(entry.path)


def test_folder_that_a_job_swaps_for_a_link_leads_nowhere(tree, outside):
    """A job replaces a folder by a link as fast as it can while files are read and written."""
    put(tree, "a/secret", b"mine")
    ends = threading.Event()

    def swaps():
        here, aside = tree.path / "a", tree.path / "aside"
        while not ends.is_set():
            with suppress(OSError):
                if aside.exists():
                    shutil.rmtree(here, ignore_errors=True)  # `put` may have made it again
                    aside.rename(here)
                here.rename(aside)
                here.symlink_to(outside)
                here.unlink()

    job = threading.Thread(target=swaps)
    job.start()
    found = {"read": 0, "written": 0}
    try:
        for count in range(30_000):
            if count >= 300 and all(found.values()):
                break
            with suppress(PortalError):
                assert read(tree, "a/secret") == b"mine"
                found["read"] += 1
            with suppress(PortalError):
                put(tree, "a/new")
                found["written"] += 1
            with suppress(PortalError):
                tree.delete("a/new")
    finally:
        ends.set()
        job.join()
    assert found["read"] and found["written"]
    assert os.listdir(outside) == ["secret"]
    assert (outside / "secret").read_bytes() == SECRET


def test_delete_of_a_folder_with_links_keeps_what_they_name(tree, outside):
    tree.make_folder("a/b")
    (tree.path / "a" / "b" / "link").symlink_to(outside)
    (tree.path / "a" / "hard").write_bytes(b"12345")
    os.link(tree.path / "a" / "hard", tree.path / "a" / "again")
    assert tree.usage() == (1, 5)  # one file with two names
    tree.delete("a")
    tree.remove()
    assert not tree.path.exists()
    assert (outside / "secret").read_bytes() == SECRET


def test_what_was_left_aside_is_swept(tree, tmp_path):
    tree.start("left")
    assert sweep(tmp_path / "root", clock.now() - timedelta(days=1)) == 0
    assert sweep(tmp_path / "root", clock.now() + timedelta(days=1)) == 1


def test_replacing_a_folder_by_what_is_inside_of_it_is_refused(tree):
    put(tree, "a/b/c", b"1")
    for target in ("a", "a/b"):
        with pytest.raises(PortalError):
            tree.move("a/b", target, replaces=True)
    assert read(tree, "a/b/c") == b"1"


def test_piece_that_is_sent_twice_at_once_is_stored_once(tree):
    aside = tree.start()

    def pieces():
        yield b"12"
        with pytest.raises(Conflict, match="Another request"):
            aside.append(0, [b"12"], limit=9)
        yield b"34"

    assert aside.append(0, pieces(), limit=9) == 4
    assert aside.path.read_bytes() == b"1234"


def test_folders_of_any_depth_are_counted_and_deleted(tree):
    below = os.open(tree.path, os.O_RDONLY)
    for _ in range(1500):  # deeper than Python recurses, than open files and than PATH_MAX
        os.mkdir("deeper", dir_fd=below)
        above, below = below, os.open("deeper", os.O_RDONLY, dir_fd=below)
        os.close(above)
    os.close(os.open("file", os.O_CREAT, dir_fd=below))
    os.close(below)
    put(tree, "a b", b"123")
    assert tree.usage() == (2, 3)
    tree.delete("deeper")
    assert tree.usage() == (1, 3)
    tree.remove()
    assert os.listdir(tree.path.parent / ".incoming") == []


def test_listing_continues_after_names_that_are_no_text(tree):
    for name in (b"a", b"a\xe4", b"a\xf6", b"b"):
        (tree.path / os.fsdecode(name)).touch()
    found, after = [], ""
    while page := tree.listing("", after, 1):
        found.append(page[0].shown_name)
        after = page[0].cursor
        after.encode()
    assert found == ["a", "a\\xe4", "a\\xf6", "b"]
