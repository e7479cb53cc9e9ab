from jobs.models.attempt import Attempt, PendingSpell
from jobs.models.job import Job

__all__ = ["Attempt", "Job", "PendingSpell"]
