"""Compare the log store with an in-memory model under random operations and crashes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from portal.blobs import logs
from portal.blobs.logs import Certificate, Gap, LogStore
from tests.rig.seeds import examples

KEY = "0123456789abcdef"
BYTES = st.binary(max_size=60)
SMALL = 32  # bytes per segment, so that a few writes fill many


@contextmanager
def small_segments() -> Iterator[None]:
    with patch.object(logs, "SEGMENT", SMALL):
        yield


class LogModel(RuleBasedStateMachine):
    """`stored` maps each kept offset to its byte; `end` is the next offset."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="muster-log-"))
        self.store = LogStore(self.root)
        self.stored: dict[int, int] = {}
        self.end = 0
        self.sealed: Certificate | None = None

    @rule(data=BYTES, back=st.integers(0, 40))
    def append(self, data: bytes, back: int) -> None:
        offset = max(self.end - back, 0)
        same = bytes(self.stored.get(at, 0) for at in range(offset, self.end))[: len(data)]
        data = same + data[len(same) :]
        with small_segments():
            result = self.store.append(KEY, offset, data, self.end)
        if self.sealed is None:
            self.stored |= {
                offset + n: byte for n, byte in enumerate(data) if offset + n >= self.end
            }
            self.end = max(self.end, offset + len(data))
        assert result == self.end

    @rule(ahead=st.integers(1, 50))
    def append_past_the_end(self, ahead: int) -> None:
        with pytest.raises(Gap):
            self.store.append(KEY, self.end + ahead, b"x", 0)

    @rule(start=st.integers(-20, 0), size=st.integers(0, 50))
    def skip(self, start: int, size: int) -> None:
        begin = max(self.end + start, 0)
        self.store.skip(KEY, begin, begin + size, "lost")
        if self.sealed is None:
            self.end = max(self.end, begin + size)

    @rule(after=st.integers(0, 300), limit=st.integers(1, 80))
    def read(self, after: int, limit: int) -> None:
        part = self.store.read(KEY, after, limit)
        wanted = sorted(at for at in self.stored if at >= after)
        assert len(part.data) <= limit and part.end == self.end and bool(part.data) == bool(wanted)
        if wanted:
            assert part.start == wanted[0]
            assert part.data == bytes(
                self.stored[at] for at in range(part.start, part.start + len(part.data))
            )

    @rule()
    def open_again(self) -> None:
        self.store = LogStore(self.root)

    @precondition(lambda self: (self.root / "ef").exists())
    @rule(torn=st.binary(min_size=1, max_size=15))
    def tear_the_index(self, torn: bytes) -> None:
        with open(self.root / "ef" / KEY / "index", "ab") as file:
            file.write(torn[: 15 - file.tell() % 16])

    @rule()
    def seal(self) -> None:
        made = self.store.seal(KEY, "exit 0")
        assert self.sealed is None or self.sealed == made
        self.sealed = made
        lost = sum(end - start for start, end, _ in made.gaps)
        assert (made.bytes, made.bytes + lost, made.complete) == (
            len(self.stored),
            self.end,
            not lost,
        )

    @invariant()
    def everything_that_was_kept_is_there(self) -> None:
        assert self.store.end(KEY) == self.end
        assert self.store.size(KEY) == len(self.stored)
        whole = b"".join(self.store.open_range(KEY, 0, self.end))
        assert whole == bytes(self.stored[at] for at in sorted(self.stored))

    def teardown(self) -> None:
        shutil.rmtree(self.root)


LogModel.TestCase.settings = settings(
    max_examples=examples(120), stateful_step_count=25, deadline=None
)


class TestLogModel(LogModel.TestCase):
    """Run random sequences of operations."""
