"""Compare our reading of generated scripts with the real sbatch's."""

from __future__ import annotations

import pytest

from tests.rig.slurm_cluster import Slurm
from tests.schedulers.spec.sbatch_differences import compare

pytestmark = pytest.mark.integration
SCRIPTS = 2000


def test_generated_scripts_mean_what_they_mean_to_sbatch(slurm: Slurm) -> None:
    outcome = compare(slurm, range(SCRIPTS))
    assert not outcome.differences, "\n".join(outcome.differences[:10])
    assert outcome.counts["compared"] > SCRIPTS / 5, outcome.counts
