"""Give scripts to the real sbatch and to our parser, and return the differences."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schedulers.spec import JobSpec, SpecErrors, parse_text
from tests.rig.processes import RigFailure
from tests.rig.slurm_cluster import Slurm
from tests.schedulers.spec.sbatch_scripts import ids, minutes, records, script, sizes, tres

DEFAULT_PER_CPU = 100  # MiB, of the rig
BATCH = 250  # held jobs at a time
ASKED = 5  # a busy slurmctld that did not answer has refused nothing
# What only the cluster can judge: its limits, its nodes and their features.
_OF_CLUSTER = (
    *("node configuration is not available", "Invalid feature", "Memory specification"),
    *("More processors", "Node count specification", "Requested node config", "time limit"),
    *("Job violates", "Task count specification", "Trackable RESource"),
    # 22.05 says so even if --nodes gives the number of tasks; later versions do not
    "--gpus-per-task used without",
)


@dataclass
class Outcome:
    """How many scripts both accepted, and each difference in words."""

    counts: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


def compare(slurm: Slurm, seeds: Iterable[int]) -> Outcome:
    outcome, seeds = Outcome(), list(seeds)
    waited_for = _sbatch(slurm, "--hold", "--wrap=true")[1].strip()
    for at in range(0, len(seeds), BATCH):
        _compare_batch(slurm, seeds[at : at + BATCH], waited_for, outcome)
    slurm.run("scancel", waited_for)
    return outcome


def _compare_batch(slurm: Slurm, seeds: list[int], waited_for: str, outcome: Outcome) -> None:
    held: dict[int, tuple[str, JobSpec]] = {}
    path = slurm.work / "differential.sh"
    for seed in seeds:
        text = script(seed).replace("JOB", waited_for)
        path.write_text(text)
        try:
            spec = parse_text(text).spec
        except SpecErrors as errors:
            spec = None
            unnamed = [error for error in errors.errors if not error.field.startswith("#")]
            if unnamed:
                outcome.differences.append(f"{seed}: no option is named: {unnamed[0]}\n{text}")
        code, number, said = _sbatch(slurm, "--hold", str(path))
        if code:
            is_odd = spec is not None and not any(words in said for words in _OF_CLUSTER)
            outcome.counts["refused by sbatch"] += 1
            if is_odd:
                outcome.differences.append(f"{seed}: only sbatch refuses: {said}\n{text}")
        elif spec is None:
            outcome.counts["refused by Muster only, by the option's name"] += 1
            slurm.run("scancel", number.strip())
        else:
            outcome.counts["compared"] += 1
            held[seed] = (number.strip(), spec)
    if not held:
        return
    jobs = records(slurm.run("scontrol", "show", "job"))
    for seed, (number, spec) in held.items():
        text = script(seed).replace("JOB", waited_for)
        env = _environment(slurm.home / "state", number)
        outcome.differences += [
            f"{seed}: {words}\n{text}" for words in _differences(jobs[number], spec, env)
        ]
    slurm.run("scancel", *[number for number, _ in held.values()])


def _sbatch(slurm: Slurm, *options: str) -> tuple[int, str, str]:
    """Submit as root, which is faster than as another user. Return the code and both outputs."""
    for _ in range(ASKED):
        done = subprocess.run(
            ["sbatch", "--parsable", *options],
            cwd=slurm.work,
            env={**slurm.environment, "HOME": str(slurm.work)},
            capture_output=True,
            text=True,
            check=False,
        )
        if "Socket timed out" not in done.stderr:
            return done.returncode, done.stdout, done.stderr
    raise RigFailure(f"a busy slurmctld did not answer {ASKED} times: {done.stderr}")


def _environment(state: Path, number: str) -> dict[str, str]:
    """Return the environment of a held job, from the files of the controller."""
    raw = (state / f"hash.{int(number) % 10}" / f"job.{number}" / "environment").read_bytes()
    words = raw.decode(errors="replace").split("\0")
    return dict(word.split("=", 1) for word in words if "=" in word)


def _differences(job: Mapping[str, str], spec: JobSpec, env: Mapping[str, str]) -> list[str]:
    nodes, gpus, cpus = spec.num_nodes, spec.resources.gpus, int(spec.resources.cpus)
    tasks = spec.slurm.tasks or nodes
    kinds = re.findall(r"gres:gpu:([A-Za-z]\w*)", " ".join(job.values()))
    # Without a fixed number of nodes, Slurm shows an estimate for the nodes that it has.
    is_fixed = "-" in job["NumNodes"]
    least = int(job["NumNodes"].partition("-")[0]) if is_fixed else 1
    on_node = re.search(r"gres:gpu(?::[A-Za-z]\w*)?(?::(\d+))?$", job.get("TresPerNode", ""))
    all_gpus = int(tres(job).get("gres/gpu", 0))
    if on_node and not is_fixed:
        all_gpus = nodes * int(on_node[1] or 1)
    array = spec.array
    found = {
        "tasks": (int(job["NumTasks"]), tasks),
        "GPUs": (all_gpus, nodes * gpus),
        "type": (kinds[0].lower() if kinds and gpus else "", spec.resources.gpu_type),
        "memory": (_memory(job, cpus, gpus), spec.resources.memory >> 20),
        "array": (
            ids(job["ArrayTaskId"]) if "ArrayTaskId" in job else set(),
            {id_ for part in array.parts for id_ in part} if array else set(),
        ),
        "limit": (int(job.get("ArrayTaskThrottle", 0)), array.max_parallel if array else 0),
        "constraint": (job["Features"].replace("(null)", ""), spec.slurm.constraint),
        "exclusive": (job["OverSubscribe"] == "NO", spec.slurm.exclusive),
        "comment": (job["Comment"], spec.labels.get("comment", "")),
        "dependency": (
            sorted(re.findall(r"(after\w+):(\d+)", job["Dependency"])),
            sorted((_KINDS[one.condition.value], str(one.number)) for one in spec.after),
        ),
        "environment": ({name: env.get(name) for name in spec.envs}, dict(spec.envs)),
        "environment beside it": (
            {name for name in ("LR", "A", "B", "E") if name in env},
            set(spec.envs),
        ),
    }
    if job["JobName"] != "differential.sh":
        found["name"] = (job["JobName"], spec.name)
    elif spec.name != "job":
        found["name"] = ("", spec.name)
    if spec.policy.max_runtime or job["TimeLimit"] == "UNLIMITED":
        limit = spec.policy.max_runtime
        found["time"] = (minutes(job["TimeLimit"]), limit // 60 if limit else None)
    if job["Requeue"] == "0":
        found["requeue"] = (0, spec.policy.retries)
    words = [
        f"{name}: sbatch {theirs}, here {ours}"
        for name, (theirs, ours) in found.items()
        if theirs != ours
    ]
    # Fewer nodes than tasks need by --ntasks-per-node are corrected when Slurm places the job.
    each = int(job["NtasksPerN:B:S:C"].partition(":")[0])
    if nodes != max(least, -(-tasks // each) if each else 0):
        words.append(f"nodes: sbatch {job['NumNodes']}, here {nodes}")
    # Each node gets the cores of the fullest one.
    on_one = each or -(-tasks // nodes)
    per_gpu = int((re.search(r"gpu:(\d+)", job.get("CpusPerTres", "")) or [0, 0])[1])
    expected = max(on_one * int(job["CPUs/Task"]), per_gpu * gpus, int(job["MinCPUsNode"]))
    if cpus != expected:
        words.append(f"cores: sbatch {expected}, here {cpus}")
    return words


_KINDS = {"ok": "afterok", "any": "afterany", "failed": "afternotok"}


def _memory(job: Mapping[str, str], cpus: int, gpus: int) -> int:
    """Return the MiB that each node gets; 0 if the script does not say."""
    if match := re.search(r"gpu:(\d+)", job.get("MemPerTres", "")):
        return int(match[1]) * gpus
    if "MinMemoryNode" in job:
        return sizes([job["MinMemoryNode"]])[0]
    each = sizes([job["MinMemoryCPU"]])[0]
    return each * cpus if each != DEFAULT_PER_CPU else 0
