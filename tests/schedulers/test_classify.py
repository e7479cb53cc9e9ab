"""Classify ends: one row for each kind of end."""

from __future__ import annotations

from schedulers.exit_reasons import QUOTE, ProcessEnd, classify
from schedulers.states import Reason

TRACE = 'Traceback (most recent call last):\n  File "train.py", line 3\nValueError: too few rows\n'
CUDA = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
KERNEL = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
MISSING = "/home/x/jobs/k/script: line 2: pyhton: command not found"
GIB = 1 << 30

TABLE = [
    # how it ended, the reason, and text that the evidence must quote
    (ProcessEnd(0, None), Reason.COMPLETED, ""),
    (ProcessEnd(0, None, asked="cancel"), Reason.CANCELED, ""),
    (ProcessEnd(0, None, tail=CUDA), Reason.COMPLETED, ""),
    (ProcessEnd(143, None, asked="cancel"), Reason.CANCELED, ""),
    (ProcessEnd(None, 9, asked="cancel"), Reason.CANCELED, ""),
    (
        ProcessEnd(143, None, asked="time", time_limit=90.0),
        Reason.TIME_LIMIT,
        "whole limit of 90 s",
    ),
    (
        ProcessEnd(None, 9, is_over_memory=True, peak=3 * GIB, limit=2 * GIB),
        Reason.OUT_OF_MEMORY,
        "3.0 GiB of 2.0 GiB",
    ),
    (
        ProcessEnd(None, 9, asked="cancel", is_over_memory=True, peak=2 << 20, limit=1),
        Reason.OUT_OF_MEMORY,
        "2 MiB of",
    ),
    (ProcessEnd(1, None, tail=f"epoch 1\n{CUDA}\n"), Reason.GPU_OUT_OF_MEMORY, CUDA),
    (ProcessEnd(1, None, tail="MemoryError\n"), Reason.OUT_OF_MEMORY, "MemoryError"),
    (
        ProcessEnd(134, None, tail="what():  std::bad_alloc\n"),
        Reason.OUT_OF_MEMORY,
        "std::bad_alloc",
    ),
    (
        ProcessEnd(1, None, tail="fork: Cannot allocate memory\n"),
        Reason.OUT_OF_MEMORY,
        "Cannot allocate",
    ),
    (
        ProcessEnd(1, None, tail="OSError: [Errno 28] No space left on device\n"),
        Reason.DISK_FULL,
        "No space left",
    ),
    (
        ProcessEnd(
            1, None, tail=f"epoch 0\n{KERNEL}\nCompile with `TORCH_USE_CUDA_DSA` to find it.\n"
        ),
        Reason.NO_KERNEL_IMAGE,
        KERNEL,
    ),
    (ProcessEnd(0, None, tail=f"{KERNEL}\nfell back to the CPU\n"), Reason.COMPLETED, ""),
    (
        ProcessEnd(127, None, tail=f"{MISSING}\n"),
        Reason.COMMAND_NOT_FOUND,
        "line 2: pyhton: command not found",
    ),
    (
        ProcessEnd(127, None, tail="/muster/script: 1: nope: not found\n"),
        Reason.COMMAND_NOT_FOUND,
        "nope: not found",
    ),
    (ProcessEnd(127, None), Reason.COMMAND_NOT_FOUND, ""),
    (ProcessEnd(1, None, tail=f"{MISSING}\n"), Reason.USER_ERROR, "Exit code 1"),
    (
        ProcessEnd(126, None, tail="bash: ./x: Permission denied\n"),
        Reason.NOT_EXECUTABLE,
        "./x: Permission denied",
    ),
    (ProcessEnd(126, None), Reason.NOT_EXECUTABLE, ""),
    (
        ProcessEnd(1, None, tail="cat: /root/x: Permission denied\n"),
        Reason.USER_ERROR,
        "Permission denied",
    ),
    (ProcessEnd(139, None), Reason.KILLED_BY_SIGNAL, "SIGSEGV"),
    (ProcessEnd(None, 7), Reason.KILLED_BY_SIGNAL, "SIGBUS"),
    (ProcessEnd(128 + 63, None), Reason.KILLED_BY_SIGNAL, "63"),
    (ProcessEnd(255, None, tail="ssh: gone\n"), Reason.USER_ERROR, "Exit code 255. ssh: gone"),
    (ProcessEnd(128, None), Reason.USER_ERROR, "Exit code 128"),
    (ProcessEnd(1, None, tail=TRACE), Reason.USER_ERROR, "Exit code 1. ValueError: too few rows"),
    (
        ProcessEnd(1, None, tail=TRACE + "cleaning up\n\n"),
        Reason.USER_ERROR,
        "ValueError: too few rows",
    ),
    (ProcessEnd(3, None, tail="one\ntwo\n\n"), Reason.USER_ERROR, "Exit code 3. two"),
    (ProcessEnd(3, None), Reason.USER_ERROR, "Exit code 3."),
]


def test_classify_returns_reason_and_evidence(subtests):
    for end, reason, quoted in TABLE:
        with subtests.test(end=end, reason=reason):
            verdict = classify(end)
            assert verdict.reason == reason
            assert quoted in verdict.evidence and (quoted or not verdict.evidence)


def test_classify_long_log_quotes_one_line():
    verdict = classify(ProcessEnd(1, None, tail="x" * 100_000))
    assert len(verdict.evidence) <= QUOTE + len("Exit code 1. ")


def test_classify_omits_script_path_from_evidence():
    assert [end for end, _, _ in TABLE if "/script:" in classify(end).evidence] == []
