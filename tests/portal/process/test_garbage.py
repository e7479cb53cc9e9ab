"""The collector of embedded mode."""

from __future__ import annotations

import gc
import threading
import weakref

from portal.process.garbage import collect_garbage


class _Cycle:
    def __init__(self) -> None:
        self.itself = self


def test_cycles_are_freed_by_the_loop_and_by_no_other_thread():
    was_enabled = gc.isenabled()
    try:
        collect_garbage(threading.Event())
        assert not gc.isenabled()
        gone = weakref.ref(_Cycle())
        kept = [[] for _ in range(gc.get_threshold()[0] * 2)]
        assert gone() is not None and kept
        for _ in range(40):
            kept += [[] for _ in range(gc.get_threshold()[0] * 2)]
            collect_garbage(threading.Event())
        assert gone() is None
    finally:
        if was_enabled:
            gc.enable()
