"""The code blocks of Markdown files, which tests run as they are written.

<!-- not run: why -->       before a block: its commands are only checked
```yaml title="job.yaml"    a file, which later blocks of the page use
```bash                     commands, which are run
```text                     what the commands before print
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

_TITLE = re.compile(r'\btitle="([^"]+)"')
_REASON = re.compile(r"<!--\s*not run:\s*(.+?)\s*-->\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced or indented block. An indented one has no language."""

    path: Path
    line: int
    language: str
    title: str
    text: str
    reason: str

    @property
    def place(self) -> str:
        return f"{self.path.name}:{self.line}"


def blocks(path: Path) -> list[Block]:
    """Return the blocks of a file, in order."""
    found: list[Block] = []
    before = ""
    for token in MarkdownIt("commonmark").parse(path.read_text()):
        if token.type in {"fence", "code_block"} and token.map:
            language, _, attributes = token.info.strip().partition(" ")
            title, reason = _TITLE.search(attributes), _REASON.search(before)
            found.append(
                Block(
                    path,
                    token.map[0] + 1,
                    language,
                    title[1] if title else "",
                    token.content,
                    " ".join(reason[1].split()) if reason else "",
                )
            )
        before = token.content if token.type == "html_block" else ""
    return found
