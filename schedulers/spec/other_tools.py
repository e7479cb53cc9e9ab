"""Map the keys of other tools to Muster's, for the error message about an unknown key."""

from __future__ import annotations

ELSEWHERE = {
    **dict.fromkeys(
        ("command", "commands", "cmd", "script", "entrypoint", "args"),
        "write the commands under `run`",
    ),
    **dict.fromkeys(("gpu", "gpus", "accelerators"), "write `resources: {accelerators: H100:1}`"),
    **dict.fromkeys(("cpu", "cpus", "memory", "mem", "shm_size"), "it belongs under `resources`"),
    **dict.fromkeys(("env", "environment", "env_vars"), "write `envs`"),
    **dict.fromkeys(("nodes", "replicas"), "write `num_nodes`"),
    **dict.fromkeys(
        ("time", "timeout", "time_limit", "max_runtime"), "write `policy: {max_runtime: 24h}`"
    ),
    **dict.fromkeys(
        ("pool", "priority", "preempt", "retries", "retry_on", "backoff", "grace"),
        "it belongs under `policy`",
    ),
    **dict.fromkeys(("depends_on", "dependencies", "dependency", "needs"), "write `after: [12]`"),
    "partition": "write `policy: {pool: …}`",
    "container": "write `image`",
    "workdir": "begin `run` with `cd`",
    "file_mounts": "write `inputs`",
    "datasets": "write `inputs`",
}
IN_RESOURCES = {
    "gpu": "write `accelerators`",
    "gpus": "write `accelerators`",
    "cpu": "write `cpus`",
    "mem": "write `memory`",
}
IN_POLICY = {
    "timeout": "write `max_runtime`",
    "time_limit": "write `max_runtime`",
    "partition": "write `pool`",
}
