"""Define job states, pending reasons and end reasons.

Pure Python: imports no model and no Django.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

from portal.core.messages import Message


class State(IntEnum):
    """State of an attempt, ordered: it only ever increases, and the last three are final.

    The database stores the number, so a guarded update is `state < new` in SQL.
    """

    QUEUED = 10
    DISPATCHING = 20
    SUBMITTED = 30
    STARTING = 40
    RUNNING = 50
    STOPPING = 60
    SUCCEEDED = 70
    FAILED = 71
    CANCELED = 72

    @property
    def label(self) -> str:
        """Lower-case name, as in the API, the pages and the CLI."""
        return self.name.lower()

    @property
    def is_final(self) -> bool:
        return self >= State.SUCCEEDED

    @property
    def is_active(self) -> bool:
        """Whether the attempt counts towards quotas and occupies resources of a cluster."""
        return State.DISPATCHING <= self <= State.STOPPING

    @classmethod
    def of(cls, word: str) -> State:
        """Return the state with this name. Raises KeyError for an unknown name."""
        return cls[word.upper()]


FINAL_FLOOR = State.SUCCEEDED


class Responsibility(StrEnum):
    """Who is responsible for an end: decides who should act and whether a retry can help."""

    NOBODY = "nobody"
    USER = "user"
    PLATFORM = "platform"


class Reason(StrEnum):
    """Why an attempt ended.

    Each reason determines the final state, the fault and whether a retry may help.
    """

    COMPLETED = "completed"
    USER_ERROR = "user_error"
    COMMAND_NOT_FOUND = "command_not_found"
    NOT_EXECUTABLE = "not_executable"
    OUT_OF_MEMORY = "out_of_memory"
    GPU_OUT_OF_MEMORY = "gpu_out_of_memory"
    TIME_LIMIT = "time_limit"
    KILLED_BY_SIGNAL = "killed_by_signal"
    DISK_FULL = "disk_full"
    IMAGE_UNAVAILABLE = "image_unavailable"
    INPUT_UNAVAILABLE = "input_unavailable"
    NO_KERNEL_IMAGE = "no_kernel_image"
    REJECTED = "rejected"
    DEPENDENCY_FAILED = "dependency_failed"
    CANCELED = "canceled"
    PREEMPTED = "preempted"
    INTERRUPTED = "interrupted"
    NODE_FAILED = "node_failed"
    XID = "xid"
    LOST_BY_SCHEDULER = "forgotten"
    LOST = "lost"
    PLATFORM_ERROR = "platform_error"

    @property
    def final_state(self) -> State:
        return _ENDS[self][0]

    @property
    def fault(self) -> Responsibility:
        return _ENDS[self][1]

    @property
    def is_retryable(self) -> bool:
        """Whether the attempt is retried automatically when the policy leaves `retry_on` unset."""
        return _ENDS[self][2]

    @property
    def headline(self) -> str:
        """One sentence for the user; the evidence follows it."""
        return _ENDS[self][3]

    @property
    def advice(self) -> str:
        """Suggested next step; empty if there is none."""
        return _ENDS[self][4]


_ENDS: dict[Reason, tuple[State, Responsibility, bool, str, str]] = {
    Reason.COMPLETED: (
        State.SUCCEEDED,
        Responsibility.NOBODY,
        False,
        Message("The command finished with exit code 0."),
        "",
    ),
    Reason.USER_ERROR: (
        State.FAILED,
        Responsibility.USER,
        False,
        Message("The command failed."),
        Message("Read the last lines of the log; fix the command and run the job again."),
    ),
    Reason.COMMAND_NOT_FOUND: (
        State.FAILED,
        Responsibility.USER,
        False,
        Message("A command in the script was not found."),
        Message("Check the spelling, install it in `setup`, or name an image that has it."),
    ),
    Reason.NOT_EXECUTABLE: (
        State.FAILED,
        Responsibility.USER,
        False,
        Message("A file in the script is not executable."),
        Message("`chmod +x` the file or start it through its interpreter, e.g. `bash script.sh`."),
    ),
    Reason.OUT_OF_MEMORY: (
        State.FAILED,
        Responsibility.USER,
        False,
        Message("The job needed more memory than it asked for."),
        Message("Raise `resources.memory`, or use smaller batches."),
    ),
    Reason.GPU_OUT_OF_MEMORY: (
        State.FAILED,
        Responsibility.USER,
        False,
        Message("The GPU ran out of memory."),
        Message(
            "Use a smaller batch, gradient accumulation or checkpointing, or a GPU with more "
            "memory. More `resources.memory` doesn't help: that is the node's memory."
        ),
    ),
    Reason.TIME_LIMIT: (
        State.FAILED,
        Responsibility.USER,
        False,
        Message("The job reached its time limit and was stopped."),
        Message("Raise `policy.max_runtime`, or save checkpoints and run again from the last."),
    ),
    Reason.KILLED_BY_SIGNAL: (
        State.FAILED,
        Responsibility.USER,
        False,
        Message("The process was ended by a signal."),
        Message(
            "SIGSEGV and SIGBUS mean a crash in native code; SIGKILL from outside means that "
            "somebody or something on the node killed it."
        ),
    ),
    Reason.DISK_FULL: (
        State.FAILED,
        Responsibility.PLATFORM,
        True,
        Message("The node's disk was full."),
        Message("Contact the operator: free up space on the node before running the job again."),
    ),
    Reason.IMAGE_UNAVAILABLE: (
        State.FAILED,
        Responsibility.USER,
        False,
        Message("The image couldn't be pulled."),
        Message("Check the name, the tag and the registry credentials."),
    ),
    Reason.INPUT_UNAVAILABLE: (
        State.FAILED,
        Responsibility.PLATFORM,
        True,
        Message("The node couldn't read the job's data."),
        Message("Check that nodes reach the portal, and that the dataset still exists."),
    ),
    Reason.NO_KERNEL_IMAGE: (
        State.FAILED,
        Responsibility.USER,
        False,
        Message("The program has no machine code for this kind of GPU."),
        Message(
            "Use a build (an image, a wheel, `TORCH_CUDA_ARCH_LIST`) made for this GPU, or ask "
            "for a GPU that it was built for."
        ),
    ),
    Reason.REJECTED: (
        State.FAILED,
        Responsibility.USER,
        False,
        Message("The cluster refused the job as it stands."),
        Message("Change what the message names and submit again."),
    ),
    Reason.DEPENDENCY_FAILED: (
        State.CANCELED,
        Responsibility.NOBODY,
        False,
        Message("A job that this job depends on did not succeed."),
        Message("Run the other job again, then this one."),
    ),
    Reason.CANCELED: (
        State.CANCELED,
        Responsibility.NOBODY,
        False,
        Message("Canceled.", context="how a job ended"),
        "",
    ),
    Reason.PREEMPTED: (
        State.FAILED,
        Responsibility.PLATFORM,
        True,
        Message("The job was preempted by a job of higher priority."),
        "",
    ),
    Reason.INTERRUPTED: (
        State.FAILED,
        Responsibility.PLATFORM,
        True,
        Message("The job was stopped on the cluster, not by Muster."),
        "",
    ),
    Reason.NODE_FAILED: (
        State.FAILED,
        Responsibility.PLATFORM,
        True,
        Message("The node failed while the job was running."),
        "",
    ),
    Reason.XID: (
        State.FAILED,
        Responsibility.PLATFORM,
        True,
        Message("A GPU failed while the job was running (XID)."),
        Message(
            "The hardware failed, not the program. Run the job again, or set `policy.retries`: a retry "
            "avoids this GPU or node. Operators see its health."
        ),
    ),
    Reason.LOST_BY_SCHEDULER: (
        State.FAILED,
        Responsibility.PLATFORM,
        True,
        Message("The cluster's scheduler crashed and lost the job."),
        Message("No action is needed: Muster starts the job again."),
    ),
    Reason.LOST: (
        State.FAILED,
        Responsibility.PLATFORM,
        True,
        Message("The cluster no longer knows this job."),
        Message("The job may have finished. Check its log before running it again."),
    ),
    Reason.PLATFORM_ERROR: (
        State.FAILED,
        Responsibility.PLATFORM,
        True,
        Message("Muster failed to run the job."),
        Message("Contact the operator and mention the job's number."),
    ),
}


class Wait(StrEnum):
    """Why a queued job is not running yet, in order of precedence (the first wins)."""

    HELD = "held"
    DEPENDENCY = "dependency"
    NO_CLUSTER = "no_cluster"
    IMPOSSIBLE = "impossible"
    CLUSTER_DOWN = "cluster_down"
    BACKOFF = "backoff"
    ARRAY_LIMIT = "array_limit"
    QUOTA_USER = "quota_user"
    QUOTA_TEAM = "quota_team"
    QUOTA_ORG = "quota_org"
    CLUSTER_HELD = "cluster_held"
    CLUSTER_LIMIT = "cluster_limit"
    NODES_DOWN = "nodes_down"
    RESERVED = "reserved"
    IMAGE = "image"
    INPUTS = "inputs"
    CAPACITY = "capacity"
    SCATTERED = "scattered"
    BEHIND = "behind"
    EVALUATING = "evaluating"
