from jobs.services.change import cancel_job, change_job, hold_job, release_job
from jobs.services.dry_run import CheckResult, DryRun, check_draft, dry_run_job
from jobs.services.exec import run_command
from jobs.services.extend import can_extend, extend_job
from jobs.services.logs import delete_logs
from jobs.services.submit import rerun_job, submit_job

__all__ = [
    "CheckResult",
    "DryRun",
    "can_extend",
    "cancel_job",
    "change_job",
    "check_draft",
    "delete_logs",
    "dry_run_job",
    "extend_job",
    "hold_job",
    "release_job",
    "rerun_job",
    "run_command",
    "submit_job",
]
