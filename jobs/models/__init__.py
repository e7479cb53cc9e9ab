from jobs.models.attempt import Attempt, PendingSpell
from jobs.models.image_end import ImageEnd
from jobs.models.job import Dependency, Job

__all__ = ["Attempt", "Dependency", "ImageEnd", "Job", "PendingSpell"]
