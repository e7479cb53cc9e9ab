"""Generate the configuration files of the rig's Slurm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

CLUSTER = "muster"
REQUEUE_SECONDS = (
    # Seconds that a credential is valid, and that a requeued job waits; Slurm's default is 120.
    10
)


@dataclass(frozen=True)
class Ports:
    """The ports of one Slurm; `slurmd` is the first of one per node."""

    slurmctld: int
    slurmdbd: int
    slurmrestd: int
    mariadb: int
    slurmd: int


@dataclass(frozen=True)
class Plan:
    """The properties of a Slurm: folder, ports and uniform nodes (memory in MiB)."""

    home: Path
    ports: Ports
    nodes: int
    cpus: int
    memory_mib: int
    gpus: int
    gpu_type: str
    accounting: bool
    cloud: bool = False
    shards: int = 0  # shares of all GPUs of a node together
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def slurm_user(self) -> str:
        """Return slurmctld's user; root in a cloud, where it starts the slurmds."""
        return "root" if self.cloud else "slurm"

    @property
    def names(self) -> list[str]:
        return [self.name(number) for number in range(1, self.nodes + 1)]

    def name(self, number: int) -> str:
        return f"e{number:04}" if self.cloud else f"n{number}"

    @property
    def all_names(self) -> str:
        """Return all nodes as one hostlist expression, zero-padded as slurmctld expects."""
        if self.nodes == 1:
            return self.name(1)
        first, last = self.name(1), self.name(self.nodes)
        return f"{first[0]}[{first[1:]}-{last[1:]}]"


def slurm_conf(plan: Plan) -> str:
    """Return slurm.conf; `plan.settings` adds or replaces single lines."""
    lines = _settings(plan) | (
        _accounting(plan)
        if plan.accounting
        else {"AccountingStorageType": "accounting_storage/none"}
    )
    lines |= (_cloud(plan) if plan.cloud else {}) | dict(plan.settings)
    return "\n".join(
        [
            *(f"{name}={value}" for name, value in lines.items()),
            *_nodes(plan),
            *_partitions(plan),
            "",
        ]
    )


def gres_conf(plan: Plan) -> str:
    """Return gres.conf: the same fake GPUs on every node, as character devices."""
    if not plan.gpus:
        return ""
    numbers = "0" if plan.gpus == 1 else f"[0-{plan.gpus - 1}]"
    return (
        f"Name=gpu Type={plan.gpu_type} File={plan.home}/dev/nvidia{numbers} Flags=nvidia_gpu_env\n"
        + (f"Name=shard Count={plan.shards}\n" if plan.shards else "")
    )


def slurmdbd_conf(plan: Plan) -> str:
    lines = {
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={plan.home}/munge/socket",
        "AuthAltTypes": "auth/jwt",
        "AuthAltParameters": f"jwt_key={plan.home}/jwt.key",
        "DbdHost": "localhost",
        "DbdAddr": "127.0.0.1",
        "DbdPort": plan.ports.slurmdbd,
        "SlurmUser": plan.slurm_user,
        "PidFile": f"{plan.home}/slurmdbd.pid",
        "DebugLevel": "info",
        "CommunicationParameters": "NoInAddrAny",
        "StorageType": "accounting_storage/mysql",
        "StorageHost": "127.0.0.1",
        "StoragePort": plan.ports.mariadb,
        "StorageUser": "slurm",
        "StorageLoc": "slurm_acct",
    }
    return "".join(f"{name}={value}\n" for name, value in lines.items())


def _settings(plan: Plan) -> dict[str, object]:
    home = plan.home
    return {
        "ClusterName": CLUSTER,
        "SlurmctldHost": "localhost(127.0.0.1)",
        "SlurmctldPort": plan.ports.slurmctld,
        "SlurmUser": plan.slurm_user,
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={home}/munge/socket,cred_expire={REQUEUE_SECONDS}",
        "AuthAltTypes": "auth/jwt",
        "AuthAltParameters": f"jwt_key={home}/jwt.key",
        "CommunicationParameters": "NoInAddrAny,NoCtldInAddrAny",
        "StateSaveLocation": f"{home}/state",
        "SlurmctldPidFile": f"{home}/slurmctld.pid",
        "SlurmdPidFile": f"{home}/spool/%n.pid",
        "SlurmdSpoolDir": f"{home}/spool/%n",
        "SlurmctldDebug": "info",
        "SlurmdDebug": "info",
        "SlurmdParameters": "config_overrides",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "JobAcctGatherType": "jobacct_gather/linux",
        "JobAcctGatherFrequency": "task=1",
        "JobAcctGatherParams": "OverMemoryKill",  # like the cgroups of a site
        "MpiDefault": "none",
        "PropagateResourceLimits": "NONE",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        "DefMemPerCPU": 100,
        "GresTypes": "gpu,shard" if plan.shards else "gpu",
        "ReturnToService": 2,
        "SlurmdTimeout": 300,
        "KillWait": 5,
        "InactiveLimit": 0,
        "MailProg": "/bin/true",
        "SchedulerType": "sched/backfill",
        "SchedulerParameters": "bf_interval=1,sched_interval=5,batch_sched_delay=0,sched_min_interval=100000",
    }


def _accounting(plan: Plan) -> dict[str, object]:
    return {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": "127.0.0.1",
        "AccountingStoragePort": plan.ports.slurmdbd,
        "AccountingStoragePass": f"{plan.home}/munge/socket",
        "AccountingStorageTRES": "gres/gpu",
        "AccountingStorageEnforce": "associations,limits,qos",
        "PriorityType": "priority/multifactor",
        "PriorityWeightQOS": 10000,
        "PriorityWeightAge": 10,
        "PreemptType": "preempt/qos",
        "PreemptMode": "REQUEUE",
    }


def _cloud(plan: Plan) -> dict[str, object]:
    return {
        "PrivateData": "cloud",
        "SlurmctldParameters": "cloud_dns,idle_on_node_suspend",
        "ResumeProgram": f"{plan.home}/resume",
        "SuspendProgram": f"{plan.home}/suspend",
        "ResumeTimeout": 300,
        "SuspendTimeout": 5,
        "SuspendTime": 60,
        "ResumeRate": 0,
        "SuspendRate": 0,
        "TreeWidth": 65533,
    }


def _nodes(plan: Plan) -> list[str]:
    last = plan.ports.slurmd + plan.nodes - 1
    ports = f"{plan.ports.slurmd}" if plan.nodes == 1 else f"[{plan.ports.slurmd}-{last}]"
    gres = f" Gres=gpu:{plan.gpu_type}:{plan.gpus}" if plan.gpus else ""
    gres += f",shard:{plan.shards}" if plan.shards else ""
    state = "CLOUD" if plan.cloud else "UNKNOWN"
    where = f"NodeName={plan.all_names} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports}"
    return [f"{where} CPUs={plan.cpus} RealMemory={plan.memory_mib}{gres} State={state}"]


def _partitions(plan: Plan) -> list[str]:
    return [
        (
            f"PartitionName=batch Nodes={plan.all_names} Default=YES MaxTime=1-00:00:00 "
            "DefaultTime=01:00:00 State=UP"
        ),
        f"PartitionName=debug Nodes={plan.name(1)} MaxTime=00:30:00 DefaultTime=00:05:00 State=UP",
    ]
