"""Compare our reading of generated scripts with the real sbatch's."""

from __future__ import annotations

import pytest

from tests.rig.slurm_cluster import Slurm
from tests.schedulers.spec.sbatch_differences import compare


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.integration)])
def test_generated_scripts_mean_what_they_mean_to_sbatch(slurm: Slurm, count: int) -> None:
    outcome = compare(slurm, range(count))
    assert not outcome.differences, "\n".join(outcome.differences[:10])
    assert outcome.counts["compared"] > count / 5, outcome.counts
