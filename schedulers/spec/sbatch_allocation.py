"""Compute what one node of an sbatch request gets. Pure.

sbatch counts tasks, cores and GPUs per job, node, task or GPU. A spec counts per node, so each
node gets what the fullest one needs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GpuAmount:
    """A number of GPUs of a type; "" is any type."""

    count: int
    type: str = ""


class AllocationFault(ValueError):
    """The options contradict each other, or mean something that a spec cannot say."""

    def __init__(self, message: str, *options: str):
        super().__init__(message)
        self.options = options


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """The options as given. Memory is in MiB."""

    nodes: int | None = None
    tasks: int | None = None
    tasks_per_node: int | None = None
    tasks_per_gpu: int | None = None
    cpus_per_task: int | None = None
    cpus_per_gpu: int | None = None
    min_cpus: int = 1
    gres: GpuAmount | None = None
    gpus: GpuAmount | None = None
    gpus_per_node: GpuAmount | None = None
    gpus_per_task: GpuAmount | None = None
    tres_cpus: int | None = None
    tres_gpus: GpuAmount | None = None
    memory: int | None = None
    memory_per_cpu: int | None = None
    memory_per_gpu: int | None = None


@dataclass(frozen=True, kw_only=True)
class Allocated:
    """The number of nodes and tasks, and what each node gets."""

    nodes: int
    tasks: int
    tasks_per_node: int
    cpus: int
    gpus: int
    gpu_type: str
    gpus_per_task: int
    memory: int | None


def allocate(asked: Allocation) -> Allocated:
    """Return the resources of each node. Raises AllocationFault."""
    _check(asked)
    on_node = asked.gres or asked.gpus_per_node
    of_task = asked.gpus_per_task or asked.tres_gpus
    nodes, tasks = _nodes(asked, on_node), _tasks(asked, on_node, of_task)
    if nodes is None and tasks and asked.tasks_per_node:
        nodes = -(-tasks // asked.tasks_per_node)
    if asked.gpus and on_node and not asked.nodes and tasks is None and asked.tasks_per_node:
        raise AllocationFault("needs --nodes or --ntasks beside GPUs", "ntasks-per-node")
    nodes = nodes or 1
    if tasks is None:
        tasks = nodes * (asked.tasks_per_node or 1)
    if asked.tasks:
        nodes = min(nodes, tasks)  # as sbatch: no node without a task
    if on_node and asked.tasks_per_gpu and asked.tasks is None:
        tasks = nodes * on_node.count * asked.tasks_per_gpu
    on_one = asked.tasks_per_node or -(-tasks // nodes)
    if on_one * nodes < tasks:
        raise AllocationFault(
            f"{tasks} tasks do not fit on {nodes} nodes with {on_one} on each: change one of the "
            "three",
            "ntasks",
            "ntasks-per-gpu",
            "gpus-per-task",
        )
    gpus = _gpus(asked, on_node, of_task, nodes, tasks)
    if not gpus.count and (asked.cpus_per_gpu or asked.memory_per_gpu or asked.tasks_per_gpu):
        raise AllocationFault(
            "has no GPUs to count: add --gpus-per-node",
            "cpus-per-gpu",
            "mem-per-gpu",
            "ntasks-per-gpu",
            "ntasks-per-tres",
        )
    each = asked.cpus_per_task or asked.tres_cpus or 1
    if of_task and asked.cpus_per_gpu:
        each = of_task.count * asked.cpus_per_gpu
    cpus = max(on_one * each, gpus.count * (asked.cpus_per_gpu or 0), asked.min_cpus)
    memory = asked.memory
    if asked.memory_per_cpu:
        memory = asked.memory_per_cpu * cpus
    elif asked.memory_per_gpu:
        memory = asked.memory_per_gpu * gpus.count
    return Allocated(
        nodes=nodes,
        tasks=tasks,
        tasks_per_node=on_one,
        cpus=cpus,
        gpus=gpus.count,
        gpu_type=gpus.type,
        gpus_per_task=of_task.count if of_task else 0,
        memory=memory,
    )


def _check(asked: Allocation) -> None:
    """Refuse what sbatch refuses."""
    memory = (asked.memory, asked.memory_per_cpu, asked.memory_per_gpu)
    if sum(size is not None for size in memory) > 1:
        raise AllocationFault(
            "only one of --mem, --mem-per-cpu and --mem-per-gpu is allowed",
            "mem-per-cpu",
            "mem-per-gpu",
        )
    if asked.cpus_per_gpu and (asked.cpus_per_task or asked.tres_cpus):
        raise AllocationFault(
            "cannot be combined with cores of each task: use one of the two", "cpus-per-gpu"
        )
    if (asked.cpus_per_task and asked.tres_cpus) or (asked.gpus_per_task and asked.tres_gpus):
        raise AllocationFault("repeats --cpus-per-task or --gpus-per-task", "tres-per-task")
    if asked.gres and asked.gpus_per_node:
        raise AllocationFault("cannot be combined with --gres=gpu: use one", "gpus-per-node")
    if asked.tasks_per_gpu and (
        asked.gpus_per_task or asked.tres_gpus or asked.tasks_per_node is not None
    ):
        raise AllocationFault(
            "cannot be combined with --gpus-per-task or --ntasks-per-node", "ntasks-per-gpu"
        )
    types = {
        gpus.type
        for gpus in (
            asked.gres,
            asked.gpus,
            asked.gpus_per_node,
            asked.gpus_per_task,
            asked.tres_gpus,
        )
        if gpus and gpus.count
    }
    if len(types) > 1:
        raise AllocationFault(
            "name the same type of GPUs in every option", "gpus", "gpus-per-task", "tres-per-task"
        )
    if (asked.gpus_per_task or asked.tres_gpus) and not (
        asked.tasks or asked.gpus or asked.nodes or asked.tasks_per_node
    ):
        raise AllocationFault("needs --ntasks or --gpus", "gpus-per-task", "tres-per-task")


def _nodes(asked: Allocation, on_node: GpuAmount | None) -> int | None:
    """Return the number of nodes, given or as a quotient of GPUs."""
    total = asked.gpus.count if asked.gpus else 0
    if not total or not on_node or not on_node.count:
        return asked.nodes
    if total % on_node.count or (asked.nodes and asked.nodes * on_node.count != total):
        raise AllocationFault(
            f"{total} GPUs are not {on_node.count} on each node: use one of the two", "gpus"
        )
    return total // on_node.count


def _tasks(asked: Allocation, on_node: GpuAmount | None, of_task: GpuAmount | None) -> int | None:
    """Return the number of tasks, given or from the GPUs; None if it follows from the nodes."""
    total = asked.gpus.count if asked.gpus else 0
    if asked.tasks:
        return asked.tasks
    if total and of_task and of_task.count and not (asked.nodes or asked.tasks_per_node):
        if total % of_task.count:
            raise AllocationFault(
                f"{total} GPUs cannot be divided by {of_task.count} for each task", "gpus"
            )
        return total // of_task.count
    if total and asked.tasks_per_gpu:
        return total * asked.tasks_per_gpu
    return None


def _gpus(
    asked: Allocation, on_node: GpuAmount | None, of_task: GpuAmount | None, nodes: int, tasks: int
) -> GpuAmount:
    """Return the GPUs of each node. Raises AllocationFault if the options contradict."""
    found: list[tuple[str, GpuAmount]] = []
    if on_node:
        found.append(("gres" if asked.gres else "gpus-per-node", on_node))
    if asked.gpus:
        if asked.gpus.count % nodes:
            raise AllocationFault(
                f"{asked.gpus.count} GPUs cannot be divided evenly among {nodes} nodes; use "
                "--gpus-per-node",
                "gpus",
            )
        found.append(("gpus", GpuAmount(asked.gpus.count // nodes, asked.gpus.type)))
    if of_task:
        if tasks % nodes:
            raise AllocationFault(
                f"{tasks} tasks with GPUs cannot be divided evenly among {nodes} nodes; change "
                "--ntasks",
                "gpus-per-task",
                "tres-per-task",
            )
        found.append(("gpus-per-task", GpuAmount(of_task.count * tasks // nodes, of_task.type)))
        if on_node and on_node.count != of_task.count * (asked.tasks_per_node or tasks // nodes):
            raise AllocationFault(
                "differ from the GPUs of each node: change one of the two",
                "gpus-per-task",
                "tres-per-task",
            )
    if asked.tasks_per_gpu and asked.tasks:
        if tasks % (asked.tasks_per_gpu * nodes):
            raise AllocationFault(
                f"{tasks} tasks cannot be divided evenly among GPUs of {nodes} nodes",
                "ntasks-per-gpu",
            )
        kind = found[0][1].type if found else ""
        found.append(("ntasks-per-gpu", GpuAmount(tasks // asked.tasks_per_gpu // nodes, kind)))
    if asked.tasks_per_gpu and not found:
        raise AllocationFault("needs --gpus or --ntasks", "ntasks-per-gpu")
    if len({gpus.count for _, gpus in found}) > 1:
        raise AllocationFault(
            "the options of GPUs contradict each other: use one of them",
            *(name for name, _ in found),
            "tres-per-task",
            "ntasks-per-gpu",
        )
    return found[0][1] if found else GpuAmount(0)
