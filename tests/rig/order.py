"""Start the slowest test files first, so that parallel workers finish together.

Files that are not listed are fast.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Marks of tests that run in a separate part of the suite.
PARTS = (
    "serial",
    "storm",
    "both_databases",
)
# Files that take more than five seconds, most of them integration tests first, then by their last measured time.
LONGEST = (
    "look/test_pages.py",
    "client/test_cli_real.py",
    "schedulers/test_slurm_reasons.py",
    "schedulers/test_slurm.py",
    "jobs/test_slurm_forgotten.py",
    "jobs/test_slurm_faults.py",
    "portal/process/test_serve.py",
    "look/test_admin_pages.py",
    "look/test_log_view.py",
    "portal/process/test_nginx.py",
    "storm/test_full_disk.py",
    "e2e/test_setting_up.py",
    "monitoring/live/test_real_ends.py",
    "look/test_directory_page.py",
    "look/test_languages_live.py",
    "e2e/test_secret_canary.py",
    "e2e/test_passkeys.py",
    "storm/test_flood.py",
    "look/test_audit_page.py",
    "e2e/test_planted_markup.py",
    "workspaces/identity/test_real_providers.py",
    "e2e/test_device_login.py",
    "look/test_cluster_pages.py",
    "e2e/test_adoption.py",
    "schedulers/test_slurm_options.py",
    "jobs/test_slurm_preemption.py",
    "monitoring/live/test_scim_ends.py",
    "jobs/test_slurm_pending.py",
    "schedulers/test_slurm_users.py",
    "portal/process/test_successors.py",
    "e2e/test_first_job.py",
    "monitoring/live/test_real_portal.py",
    "experiments/mlflow/test_clients.py",
    "datasets/test_hub.py",
    "client/test_datasets.py",
    "client/test_real_portal.py",
    "client/test_workspaces.py",
    "e2e/test_inputs.py",
    "e2e/test_outputs.py",
    "api/test_schema.py",
    "portal/test_new_app.py",
    "http/test_answers.py",
    "api/test_hostile_input.py",
    "test_role_matrix.py",
    "test_permission_matrix.py",
    "http/test_csrf.py",
    "experiments/test_pages.py",
    "schedulers/spec/test_round_trip.py",
    "clusters/test_health_rules.py",
    "workspaces/identity/test_arrivals.py",
    "test_security_rules.py",
    "examples/test_digits.py",
    "demo/test_demo.py",
    "jobs/test_admission.py",
    "schedulers/test_contract.py",
    "api/test_lists.py",
    "jobs/test_kubernetes_faults.py",
    "portal/blobs/test_logs_faults.py",
    "test_audit_coverage.py",
    "jobs/quotas/test_quota_page.py",
    "portal/process/test_limits.py",
    "monitoring/test_sources.py",
    "workspaces/identity/issuer/test_applications.py",
    "workspaces/test_passwords.py",
    "notifications/test_channels.py",
    "workspaces/identity/test_hostile_oidc.py",
    "workspaces/identity/issuer/test_tokens_of_applications.py",
    "test_languages_of_pages.py",
    "schedulers/test_kubernetes_schedules.py",
    "monitoring/test_utilization.py",
    "jobs/quotas/test_storage_counted.py",
    "jobs/quotas/test_gpu_hours.py",
    "workspaces/identity/scim/test_scim.py",
    "workspaces/test_planning.py",
    "clusters/test_mig_plans.py",
    "jobs/test_worlds.py",
    "workspaces/test_impersonation.py",
    "client/test_run.py",
    "billing/test_pages.py",
    "billing/test_ledger.py",
    "portal/series/test_bounds.py",
    "datasets/test_pages.py",
    "experiments/mlflow/test_protocol.py",
    "jobs/test_log_deletion.py",
    "jobs/test_saving.py",
    "workspaces/access/test_people.py",
    "datasets/test_api.py",
    "schedulers/test_fitting.py",
    "jobs/test_lifecycle.py",
    "workspaces/test_audit_api.py",
    "jobs/test_paging.py",
    "schedulers/spec/test_environment.py",
    "workspaces/identity/test_proof.py",
    "workspaces/test_second_factor.py",
    "workspaces/services/test_guarantees.py",
    "workspaces/access/test_explanations.py",
    "portal/blobs/test_logs.py",
    "schedulers/test_kubernetes_faults.py",
    "schedulers/test_local.py",
)
# Files that share a running portal (fixtures `embedded_portal` and `running_portal`) or a Slurm (`slurm`):
# its start takes longer than most of their tests, so they run in one process.
TOGETHER = {
    "tests/client/test_datasets.py": "embedded portal",
    "tests/client/test_real_portal.py": "embedded portal",
    "tests/client/test_workspaces.py": "embedded portal",
    "tests/e2e/test_inputs.py": "embedded portal",
    "tests/e2e/test_outputs.py": "embedded portal",
    "tests/datasets/test_hub.py": "running portal",
    "tests/experiments/mlflow/test_clients.py": "running portal",
    "tests/monitoring/live/test_real_portal.py": "running portal",
    "tests/jobs/test_slurm_lifecycle.py": "Slurm",
    "tests/schedulers/spec/test_sbatch_differential.py": "Slurm",
}
_PLACES = {ROOT / name: number for number, name in enumerate(LONGEST)}


def place(path: Path) -> int:
    return _PLACES.get(path, len(_PLACES))


def unit_of(nodeid: str) -> str:
    """Return what runs in one process: the file, or the files that share a component."""
    file = nodeid.partition("::")[0]
    return TOGETHER.get(file, file)


def is_integration(path: Path) -> bool:
    """Return whether all tests of a file are marked `integration` by its `pytestmark`."""
    mark = r"^pytestmark = .*\bpytest\.mark\.integration\b"
    return path.suffix == ".py" and bool(re.search(mark, path.read_text(), re.MULTILINE))


@cache
def marks_of(path: Path) -> frozenset[str]:
    """Return the marks of PARTS in a file's text; faster than collecting all tests."""
    return frozenset(re.findall(rf"\bpytest\.mark\.({'|'.join(PARTS)})\b", path.read_text()))
