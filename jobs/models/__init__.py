from jobs.models.attempt import Attempt, PendingSpell
from jobs.models.data import JobInput, JobWorkspace
from jobs.models.idle import IdleCase, IdleRule
from jobs.models.image_end import ImageEnd
from jobs.models.job import Dependency, Job
from jobs.models.output import JobOutput
from jobs.models.port import PortActivity
from jobs.models.utilization import AttemptUtilization, GpuCapacity, GpuTime, NodeUtilization

__all__ = [
    "Attempt",
    "AttemptUtilization",
    "Dependency",
    "GpuCapacity",
    "GpuTime",
    "IdleCase",
    "IdleRule",
    "ImageEnd",
    "Job",
    "JobInput",
    "JobOutput",
    "JobWorkspace",
    "NodeUtilization",
    "PendingSpell",
    "PortActivity",
]
