"""Catalogues as files: .po, which people write, and .mo, which Django reads. Pure, and without GNU gettext, so that a bare machine has all."""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_HEADER = (
    "Content-Type: text/plain; charset=UTF-8\\n",
    "Content-Transfer-Encoding: 8bit\\n",
    "Plural-Forms: nplurals=1; plural=0;\\n",
)
_LINE = re.compile(r'(msgctxt|msgid|msgid_plural|msgstr(?:\[0\])?)?\s*(".*")\s*\Z')


@dataclass
class Message:
    """One text: `id` in English (with `plural`, the English of many), `said` in the catalogue's language, and the files it comes from."""

    id: str
    plural: str = ""
    context: str = ""
    said: str = ""
    files: set[str] = field(default_factory=set)
    is_fuzzy: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.context, self.id


def read(path: Path) -> dict[tuple[str, str], Message]:
    """By (context, English). Raises ValueError with the line that is no .po."""
    found: dict[tuple[str, str], Message] = {}
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
        message = _message(block, path)
        if message and message.id:
            found[message.key] = message
    return found


def _message(block: str, path: Path) -> Message | None:
    parts: dict[str, str] = {}
    name, files, is_fuzzy = "", set[str](), False
    for line in block.splitlines():
        if line.startswith("#"):
            files |= set(line[2:].split()) if line.startswith("#:") else set()
            is_fuzzy |= line.startswith("#,") and "fuzzy" in line
        elif match := _LINE.match(line.strip()):
            name = (match[1] or name).removesuffix("[0]")
            parts[name] = parts.get(name, "") + ast.literal_eval(match[2])
        elif line.strip():
            raise ValueError(f"{path.name}: this is no line of a catalogue: {line!r}")
    if "msgid" not in parts:
        return None
    return Message(
        parts["msgid"],
        parts.get("msgid_plural", ""),
        parts.get("msgctxt", ""),
        parts.get("msgstr", ""),
        files,
        is_fuzzy,
    )


def written(messages: Iterable[Message]) -> str:
    """The text of a .po, in the order of the English, so that two people's additions seldom meet on one line."""
    blocks = ['msgid ""\nmsgstr ""\n' + "\n".join(f'"{line}"' for line in _HEADER)]
    return (
        "\n\n".join(
            [
                *blocks,
                *(
                    _block(m)
                    for m in sorted(messages, key=lambda m: (m.id.casefold(), m.id, m.context))
                ),
            ]
        )
        + "\n"
    )


def _block(message: Message) -> str:
    lines = [f"#: {' '.join(sorted(message.files))}"] if message.files else []
    lines += ["#, fuzzy"] if message.is_fuzzy else []
    lines += [f"msgctxt {_quoted(message.context)}"] if message.context else []
    lines += [f"msgid {_quoted(message.id)}"]
    lines += [f"msgid_plural {_quoted(message.plural)}"] if message.plural else []
    return "\n".join([*lines, f"msgstr{'[0]' if message.plural else ''} {_quoted(message.said)}"])


def _quoted(text: str) -> str:
    return (
        '"'
        + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        + '"'
    )


def compiled(messages: Iterable[Message]) -> bytes:
    """The bytes of a .mo (GNU gettext's format, little endian, no hash table)."""
    pairs = sorted(_pairs(messages))
    begin = 28 + 16 * len(pairs)
    ids, strings = b"".join(k + b"\0" for k, _ in pairs), b"".join(v + b"\0" for _, v in pairs)
    tables = b"".join(
        [*_table((k for k, _ in pairs), begin), *_table((v for _, v in pairs), begin + len(ids))]
    )
    return (
        struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
        + tables
        + ids
        + strings
    )


def _pairs(messages: Iterable[Message]) -> Iterator[tuple[bytes, bytes]]:
    yield b"", "".join(line.replace("\\n", "\n") for line in _HEADER).encode()
    for m in messages:
        if m.said and not m.is_fuzzy:
            key = f"{m.context}\x04{m.id}" if m.context else m.id
            yield (f"{key}\0{m.plural}" if m.plural else key).encode(), m.said.encode()


def _table(texts: Iterable[bytes], at: int) -> Iterator[bytes]:
    for text in texts:
        yield struct.pack("<2I", len(text), at)
        at += len(text) + 1
