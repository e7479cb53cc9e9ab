"""Compare our reading of generated scripts with the real sbatch's."""

from __future__ import annotations

import pytest

from tests.rig.slurm_cluster import Slurm
from tests.schedulers.spec.sbatch_differences import compare


@pytest.mark.parametrize("scripts", [300, pytest.param(2000, marks=pytest.mark.integration)])
def test_generated_scripts_mean_what_they_mean_to_sbatch(slurm: Slurm, scripts: int) -> None:
    outcome = compare(slurm, range(scripts))
    assert not outcome.differences, "\n".join(outcome.differences[:10])
    assert outcome.counts["compared"] > scripts / 5, outcome.counts
