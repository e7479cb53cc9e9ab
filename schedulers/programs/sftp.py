"""Serve files over SFTP, version 3, on standard input and output, where no sftp-server is installed.

    sftp.py

Paths are those of the job; relative ones begin where the program was started. Used by sftp, scp,
rsync over sftp, editors and sshfs. Python 3.9, standard library only.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
import time
from collections.abc import Callable
from typing import Any, BinaryIO

MOST = 1 << 20  # bytes of a packet
PART = 256 << 10  # bytes of an answer to a read
NAMES = 100  # entries in an answer
INIT, VERSION, STATUS, HANDLE, DATA, NAME, ATTRS = 1, 2, 101, 102, 103, 104, 105
EXTENDED = 200
OK, EOF, NO_SUCH_FILE, DENIED, FAILURE, BAD, UNSUPPORTED = 0, 1, 2, 3, 4, 5, 8
SIZE, OWNER, MODE, TIMES = 1, 2, 4, 8
READ, WRITE, APPEND, CREATE, TRUNCATE, EXCLUSIVE = 1, 2, 4, 8, 16, 32
_EXTENSIONS = (
    (b"posix-rename@openssh.com", b"1"),
    (b"hardlink@openssh.com", b"1"),
    (b"fsync@openssh.com", b"1"),
)


class Reader:
    """The fields of a packet."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def number(self, form: str = ">I") -> int:
        value = int(struct.unpack_from(form, self.data, self.at)[0])
        self.at += struct.calcsize(form)
        return value

    def text(self) -> bytes:
        size = self.number()
        value = self.data[self.at : self.at + size]
        if len(value) != size:
            raise ValueError("the packet is too short")
        self.at += size
        return value

    def attributes(self) -> dict[str, Any]:
        flags, found = self.number(), {}
        if flags & SIZE:
            found["size"] = self.number(">Q")
        if flags & OWNER:
            found["owner"] = (self.number(), self.number())
        if flags & MODE:
            found["mode"] = stat.S_IMODE(self.number())
        if flags & TIMES:
            found["times"] = (self.number(), self.number())
        return found


def text(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


def attributes(found: os.stat_result) -> bytes:
    times = [int(one) & 0xFFFFFFFF for one in (found.st_atime, found.st_mtime)]
    return struct.pack(
        ">IQIIIII",
        SIZE | OWNER | MODE | TIMES,
        found.st_size,
        found.st_uid,
        found.st_gid,
        found.st_mode,
        *times,
    )


def long_name(name: bytes, found: os.stat_result) -> bytes:
    """Return a line as that of `ls -l`, which clients show."""
    when = time.strftime("%b %d %H:%M", time.localtime(found.st_mtime))
    about = f"{stat.filemode(found.st_mode)} {found.st_nlink:4d} {found.st_uid:8d} "
    return f"{about}{found.st_gid:8d} {found.st_size:8d} {when} ".encode() + name


class Server:
    """One connection. Handles are open files, or folders whose entries are yet to be sent."""

    def __init__(self, source: BinaryIO, sink: BinaryIO):
        self.source, self.sink = source, sink
        self.files: dict[bytes, int] = {}
        self.folders: dict[bytes, Any] = {}
        self.count = 0
        self.actions: dict[int, Callable[[Reader], tuple[int, bytes]]] = {
            3: self.open,
            4: self.close,
            5: self.read,
            6: self.write,
            7: lambda packet: (ATTRS, attributes(os.lstat(packet.text()))),
            8: lambda packet: (ATTRS, attributes(os.fstat(self.files[packet.text()]))),
            9: lambda packet: self.set(packet.text(), packet),
            10: lambda packet: self.set(self.files[packet.text()], packet),
            11: self.open_folder,
            12: self.read_folder,
            13: lambda packet: done(os.unlink(packet.text())),
            14: self.make_folder,
            15: lambda packet: done(os.rmdir(packet.text())),
            16: self.real_path,
            17: lambda packet: (ATTRS, attributes(os.stat(packet.text()))),
            18: self.rename,
            19: self.read_link,
            20: self.link,
            EXTENDED: self.extended,
        }

    def serve(self) -> None:
        """Answer packets until the client leaves."""
        while len(head := self.source.read(4)) == 4:
            size = int(struct.unpack(">I", head)[0])
            data = self.source.read(size) if 0 < size <= MOST else b""
            if not data or len(data) != size:
                return
            if data[0] == INIT:
                given = b"".join(text(one) + text(other) for one, other in _EXTENSIONS)
                self.send(VERSION, struct.pack(">I", 3) + given)
            else:
                packet = Reader(data[1:])
                number = packet.number()
                kind, answer = self.answer(data[0], packet)
                self.send(kind, struct.pack(">I", number) + answer)

    def send(self, kind: int, data: bytes) -> None:
        self.sink.write(struct.pack(">IB", len(data) + 1, kind) + data)
        self.sink.flush()

    def answer(self, kind: int, packet: Reader) -> tuple[int, bytes]:
        action = self.actions.get(kind)
        if action is None:
            return failed(UNSUPPORTED, "This is not supported.")
        try:
            return action(packet)
        except EOFError:
            return failed(EOF, "This is the end.")
        except FileNotFoundError as error:
            return failed(NO_SUCH_FILE, error.strerror)
        except PermissionError as error:
            return failed(DENIED, error.strerror)
        except KeyError:
            return failed(FAILURE, "The handle is not open.")
        except (ValueError, struct.error) as error:
            return failed(BAD, str(error))
        except OSError as error:
            return failed(FAILURE, error.strerror or str(error))

    def handle(self) -> bytes:
        self.count += 1
        return b"%d" % self.count

    def open(self, packet: Reader) -> tuple[int, bytes]:
        path, asked, given = packet.text(), packet.number(), packet.attributes()
        both = asked & READ and asked & WRITE
        flags = os.O_RDWR if both else os.O_WRONLY if asked & WRITE else os.O_RDONLY
        for bit, flag in (
            (APPEND, os.O_APPEND),
            (CREATE, os.O_CREAT),
            (TRUNCATE, os.O_TRUNC),
            (EXCLUSIVE, os.O_EXCL),
        ):
            flags |= flag if asked & bit else 0
        handle = self.handle()
        self.files[handle] = os.open(path, flags | os.O_CLOEXEC, given.get("mode", 0o666))
        return HANDLE, text(handle)

    def close(self, packet: Reader) -> tuple[int, bytes]:
        handle = packet.text()
        if handle in self.folders:
            del self.folders[handle]
        else:
            os.close(self.files.pop(handle))
        return done()

    def read(self, packet: Reader) -> tuple[int, bytes]:
        file, at, size = self.files[packet.text()], packet.number(">Q"), packet.number()
        data = os.pread(file, min(size, PART), at)
        if not data and size:
            raise EOFError
        return DATA, text(data)

    def write(self, packet: Reader) -> tuple[int, bytes]:
        file, at, data = self.files[packet.text()], packet.number(">Q"), packet.text()
        while data:
            written = os.pwrite(file, data, at)
            data, at = data[written:], at + written
        return done()

    def set(self, target: Any, packet: Reader) -> tuple[int, bytes]:
        given = packet.attributes()
        if "size" in given:
            os.truncate(target, given["size"])
        if "owner" in given:
            os.chown(target, *given["owner"])
        if "mode" in given:
            os.chmod(target, given["mode"])
        if "times" in given:
            os.utime(target, given["times"])
        return done()

    def open_folder(self, packet: Reader) -> tuple[int, bytes]:
        path = packet.text()
        names = [b".", b"..", *os.listdir(path)]
        handle = self.handle()
        self.folders[handle] = (path, iter(names))
        return HANDLE, text(handle)

    def read_folder(self, packet: Reader) -> tuple[int, bytes]:
        path, names = self.folders[packet.text()]
        entries = []
        for name in names:
            try:
                found = os.lstat(os.path.join(path, name))
            except OSError:
                continue  # it was removed in between
            entries.append(text(name) + text(long_name(name, found)) + attributes(found))
            if len(entries) == NAMES:
                break
        if not entries:
            raise EOFError
        return NAME, struct.pack(">I", len(entries)) + b"".join(entries)

    def make_folder(self, packet: Reader) -> tuple[int, bytes]:
        path, given = packet.text(), packet.attributes()
        os.mkdir(path, given.get("mode", 0o777))
        return done()

    def real_path(self, packet: Reader) -> tuple[int, bytes]:
        return one_name(os.path.realpath(packet.text() or b"."))

    def read_link(self, packet: Reader) -> tuple[int, bytes]:
        return one_name(os.readlink(packet.text()))

    def rename(self, packet: Reader) -> tuple[int, bytes]:
        old, new = packet.text(), packet.text()
        if os.path.lexists(new):  # version 3 does not replace
            return failed(FAILURE, "File exists")
        return done(os.rename(old, new))

    def link(self, packet: Reader) -> tuple[int, bytes]:
        # OpenSSH sends the target first, and so do all clients.
        target, path = packet.text(), packet.text()
        return done(os.symlink(target, path))

    def extended(self, packet: Reader) -> tuple[int, bytes]:
        name = packet.text()
        if name == b"posix-rename@openssh.com":
            return done(os.replace(packet.text(), packet.text()))
        if name == b"hardlink@openssh.com":
            return done(os.link(packet.text(), packet.text()))
        if name == b"fsync@openssh.com":
            return done(os.fsync(self.files[packet.text()]))
        return failed(UNSUPPORTED, "This is not supported.")


def one_name(path: bytes) -> tuple[int, bytes]:
    return NAME, struct.pack(">I", 1) + text(path) + text(path) + struct.pack(">I", 0)


def done(_: object = None) -> tuple[int, bytes]:
    return failed(OK, "")


def failed(code: int, why: str | None) -> tuple[int, bytes]:
    return STATUS, struct.pack(">I", code) + text((why or "Failure").encode()) + text(b"en")


if __name__ == "__main__":
    Server(sys.stdin.buffer, sys.stdout.buffer).serve()
