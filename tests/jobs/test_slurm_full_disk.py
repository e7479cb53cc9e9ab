"""A full disk on the cluster, as the portal tells it: reason, certificate, and a warning before."""

from __future__ import annotations

import subprocess

import pytest

from clusters.backends import backend_of
from clusters.representations import cluster_row
from clusters.services.inventory import take_inventory
from jobs.models import Attempt
from portal.blobs.logs import log_store
from schedulers.states import Reason, State
from tests.jobs.slurm_site import site_on

pytestmark = pytest.mark.integration
LINES = 400_000


def test_log_that_a_full_spool_cut_is_certified_with_its_gap(story, slurm, home):
    with site_on(story, slurm) as site:
        spool = site.folder / "spool"
        mount = ["mount", "-t", "tmpfs", "-o", "size=2M,mode=1777", "tmpfs", str(spool)]
        subprocess.run(mount, check=True)
        try:
            site.submit(f"seq 1 {LINES}", policy={"retries": 1, "backoff": 0})
            site.until(lambda: Attempt.objects.filter(is_log_sealed=True).exists(), 60)
            attempt = Attempt.objects.order_by("ordinal").first()
            take_inventory(site.cluster, backend_of(site.cluster))
            site.cluster.refresh_from_db()
            disk = cluster_row(site.cluster)["disk"]
            attempts = Attempt.objects.count()
        finally:
            subprocess.run(["umount", "--lazy", str(spool)], check=True)
    assert (attempt.state, attempt.reason) == (State.FAILED, Reason.DISK_FULL)
    assert "disk was full" in attempt.evidence and attempt.exit_code is None
    assert attempts == 2  # it is retried
    seal = log_store().certificate(attempt.id.hex)
    kept, whole = log_store().whole(attempt.id.hex)[0], sum(len(f"{n}\n") for n in range(LINES + 1))
    assert not seal.complete and seal.bytes == kept
    assert sum(end - start for start, end, _ in seal.gaps) == whole - 2 - kept
    assert "the cluster's disk was full" in seal.text and "lines lost" in seal.text
    assert disk["percent"] == 100 and "100 % full" in disk["warning"]
