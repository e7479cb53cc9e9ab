from jobs.models.attempt import Attempt, PendingSpell
from jobs.models.job import Dependency, Job

__all__ = ["Attempt", "Dependency", "Job", "PendingSpell"]
