"""Which files begin first when the suite runs side by side: the longest, so that at the end nobody waits for one that began last. A file that is
not here is one of the short ones."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# About by the time that they took when somebody last looked, of those that take longer than most.
LONGEST = (
    "api/test_schema.py", "client/test_cli_real.py", "look/test_pages.py", "jobs/backends/test_slurm_reasons.py",
    "portal/blobs/test_logs_faults.py", "jobs/test_worlds.py", "storm/test_full_disk.py", "jobs/test_paging.py", "jobs/test_slurm_forgotten.py",
    "examples/test_digits.py", "test_house_walls.py", "jobs/backends/test_slurm.py", "workspaces/sso/test_arrivals.py",
    "look/test_admin_pages.py", "look/test_log_view.py", "e2e/test_setting_up.py", "portal/process/test_serve.py", "look/test_single_sign_on.py",
    "portal/blobs/test_logs.py", "look/test_directory_page.py", "monitoring/live/test_scim_ends.py", "jobs/test_kubernetes_faults.py",
    "jobs/test_slurm_faults.py", "workspaces/access/test_explanations.py", "workspaces/test_planning.py", "look/test_languages_live.py",
    "test_role_matrix.py", "e2e/test_first_job.py", "jobs/backends/test_contract.py", "test_languages_of_pages.py", "e2e/test_secret_canary.py",
    "test_permission_matrix.py", "monitoring/live/test_real_ends.py", "api/test_hostile_input.py", "e2e/test_passkeys.py",
    "workspaces/services/test_guarantees.py", "storm/test_flood.py", "look/test_audit_page.py", "workspaces/sso/test_hostile_saml.py",
    "workspaces/scim/test_tester.py", "api/test_lists.py", "jobs/test_lifecycle.py", "jobs/backends/test_slurm_options.py",
    "jobs/backends/test_kubernetes_schedules.py", "e2e/test_device_login.py", "workspaces/sso/test_real_providers.py",
    "look/test_cluster_pages.py", "doors/test_answers.py", "client/test_real_portal.py", "monitoring/live/test_real_portal.py",
    "e2e/test_planted_markup.py", "e2e/test_adoption.py", "workspaces/services/test_invitations.py", "jobs/test_admission.py",
    "test_every_change_is_a_fact.py", "jobs/test_slurm_preemption.py", "doors/test_csrf.py", "rig/test_slurm.py", "portal/process/test_nginx.py",
)
_PLACES = {ROOT / name: number for number, name in enumerate(LONGEST)}


def place(path: Path) -> int:
    return _PLACES.get(path, len(_PLACES))


def has_marks(path: Path) -> bool:
    """Whether a test of that file runs one by one; the suite reads no other file for that part of it."""
    return bool(re.search(r"\bpytest\.mark\.(serial|storm)\b", path.read_text()))
