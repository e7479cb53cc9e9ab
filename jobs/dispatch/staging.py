"""Make the folders of the versions that jobs read, before their launch.

Small ones are made at once. Large ones are made by a thread; until then the attempt stays claimed,
and the next claim after its lease looks again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cache
from threading import Lock
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import close_old_connections

from datasets import staging
from datasets.models import Version
from jobs.data.inputs import JobData
from portal.core import errors
from portal.core.messages import Message
from schedulers.contract import Unavailable
from workspaces.tenancy.scope import org_scope

log = logging.getLogger(__name__)
SMALL = 2000  # files: made in less than a second
WORKERS = 2
PATIENCE = 3.0  # seconds of a claim's lease that a batch waits for large folders
_lock = Lock()
_making: dict[UUID, Future[str]] = {}


class Preparing(Unavailable):
    """The files of a job are being prepared."""


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(WORKERS, thread_name_prefix="stage")


def prepare(
    backend: Any, data: Mapping[UUID, JobData]
) -> tuple[dict[UUID, JobData], dict[UUID, Unavailable]]:
    """Return the data of jobs with folders, and why other jobs have to wait.

    Nothing is made for a cluster whose nodes do not see the portal's data folder.
    """
    if not getattr(backend, "sees_data", False):
        return dict(data), {}
    versions = {v.id: v for one in data.values() if not one.refusal for v in one.versions}
    started = {pk: _start(version) for pk, version in versions.items()}
    wait(started.values(), PATIENCE)
    ready, waiting = dict[UUID, JobData](), dict[UUID, Unavailable]()
    for job_id, one in data.items():
        try:
            ready[job_id] = _with_trees(one, started)
        except Unavailable as error:
            ready[job_id], waiting[job_id] = one, error
        except errors.Unavailable as error:  # the disk is full
            ready[job_id], waiting[job_id] = one, Unavailable(error.message)
        except errors.PortalError as error:
            ready[job_id] = replace(one, refusal=error.message)
        except Exception as error:  # of the disk: other jobs of the batch start
            log.exception("the inputs of job %s cannot be prepared", job_id)
            ready[job_id], waiting[job_id] = one, Unavailable(repr(error))
    for pk, making in started.items():
        if making.done():
            with _lock:
                _making.pop(pk, None)
    return ready, waiting


def _with_trees(data: JobData, started: Mapping[UUID, Future[str]]) -> JobData:
    if data.refusal:
        return data
    inputs = []
    for files, version in zip(data.inputs, data.versions, strict=True):
        making = started[version.id]
        if not making.done():
            raise Preparing(
                Message(
                    "The {n} files of {version} are being prepared.",
                    n=f"{files.files:,}",
                    version=files.text,
                )
            )
        inputs.append(replace(files, tree=making.result()))
    return replace(data, inputs=inputs)


def _start(version: Version) -> Future[str]:
    with _lock:
        if version.id in _making:
            return _making[version.id]
        if version.files > SMALL or settings.MUSTER_S3_BUCKET:  # or fetched first
            _making[version.id] = _threads().submit(_make_in_thread, version)
            return _making[version.id]
    made: Future[str] = Future()
    try:
        made.set_result(_make(version))
    except Exception as error:
        made.set_exception(error)
    return made


def _make(version: Version) -> str:
    with org_scope(version.org_id):
        return staging.materialize(version)


def _make_in_thread(version: Version) -> str:
    close_old_connections()
    try:
        return _make(version)
    finally:
        close_old_connections()
