"""A complete real Slurm as plain processes on loopback.

It has munged, MariaDB, slurmdbd, slurmctld, slurmds with fake GPUs, and slurmrestd with JWT. Needs
root, because slurmd switches to the user of a job and the fake GPUs are device nodes.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.rig.processes import Folder, RigFailure, free_ports
from tests.rig.slurm_cloud import resume_script, suspend_script
from tests.rig.slurm_cluster import Slurm
from tests.rig.slurm_conf import Plan, Ports, gres_conf, slurm_conf, slurmdbd_conf

__all__ = ["Slurm", "start_cloud", "start_slurm"]


def start_slurm(
    folder: Folder,
    *,
    nodes: int = 4,
    cpus: int = 8,
    memory_mib: int = 16000,
    gpus: int = 4,
    gpu_type: str = "h100",
    accounting: bool = True,
    rest: bool = True,
    settings: Mapping[str, str] | None = None,
    name: str = "slurm",
    shards: int = 0,
) -> Slurm:
    """Start everything and wait until every node is idle.

    `settings` adds or replaces lines of slurm.conf; `shards` are the shares of a node's GPUs.
    """
    home, ports = folder.path / name, _ports(nodes)
    plan = Plan(
        home,
        ports,
        nodes,
        cpus,
        memory_mib,
        gpus,
        gpu_type,
        accounting,
        shards=shards,
        settings=settings or {},
    )
    slurm = _start(folder, plan)
    for node in plan.names:
        slurm.start_node(node)
    if rest:
        slurm.start_rest()
    slurm.wait_idle()
    return slurm


def start_cloud(
    folder: Folder,
    nodes: int = 2000,
    *,
    cpus: int = 64,
    memory_mib: int = 1_000_000,
    gpus: int = 8,
    gpu_type: str = "h100",
    accounting: bool = False,
    rest: bool = True,
    settings: Mapping[str, str] | None = None,
    name: str = "cloud",
) -> Slurm:
    """Start a large cluster on a small machine.

    The slurmd of a node (4-5 MB) runs only while the node has work, and for one more minute. Keep
    fewer than 300 nodes awake. Waits until every node is asleep or idle.
    """
    home, ports = folder.path / name, _ports(nodes)
    plan = Plan(
        home,
        ports,
        nodes,
        cpus,
        memory_mib,
        gpus,
        gpu_type,
        accounting,
        cloud=True,
        settings=settings or {},
    )
    slurm = _start(folder, plan)
    if rest:
        slurm.start_rest()
    slurm.wait_idle()
    return slurm


def _start(folder: Folder, plan: Plan) -> Slurm:
    """Start everything but slurmrestd and the slurmds."""
    if os.geteuid() != 0:
        raise RigFailure("the rig's Slurm needs root: slurmd runs jobs as other users")
    slurm = Slurm(folder, plan)
    _write(plan)
    slurm.start_keys()
    if plan.accounting:
        slurm.start_accounting()
    slurm.start_controller()
    return slurm


def _write(plan: Plan) -> None:
    home = plan.home
    for path, owner, mode in (
        (home, "root", 0o755),
        (home / "state", plan.slurm_user, 0o700),
        (home / "spool", "root", 0o755),
        (home / "work", "root", 0o1777),
        (home / "dev", "root", 0o755),
    ):
        path.mkdir()
        path.chmod(mode)
        shutil.chown(path, owner)
    _write_file(home / "slurm.conf", slurm_conf(plan), "root", 0o644)
    _write_file(home / "gres.conf", gres_conf(plan), "root", 0o644)
    _write_file(home / "slurmdbd.conf", slurmdbd_conf(plan), plan.slurm_user, 0o600)
    if plan.cloud:
        _write_file(home / "resume", resume_script(plan), "root", 0o755)
        _write_file(home / "suspend", suspend_script(plan), "root", 0o755)
    _write_file(home / "jwt.key", secrets.token_hex(32), plan.slurm_user, 0o600)
    for number in range(plan.gpus):  # each is /dev/null by another name
        device = home / "dev" / f"nvidia{number}"
        os.mknod(device, 0o020666, os.makedev(1, 3))
        device.chmod(0o666)


def _write_file(path: Path, text: str, owner: str, mode: int) -> None:
    path.write_text(text)
    path.chmod(mode)
    shutil.chown(path, owner)


def _ports(nodes: int) -> Ports:
    first = free_ports(4 + nodes)
    return Ports(first, first + 1, first + 2, first + 3, first + 4)
