"""Test output folders on persistent volumes.

Against a double, or a real cluster (tests/rig/kube.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from schedulers.contract import OutputFolder, OutputRetention, Rejected
from schedulers.kubernetes import pod
from schedulers.kubernetes.backend import KubernetesBackend
from schedulers.states import State
from tests.rig.kube import claim_of, folder_of, options_of
from tests.schedulers.kubernetes_stage import launch, state_of


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return folder_of(tmp_path)


@pytest.fixture
def keeping(place: Path) -> Iterator[KubernetesBackend]:
    options = {**options_of(), "shared": [], "outputs": claim_of(place)}
    made = KubernetesBackend.configured(options)
    yield made
    made.close()


def over(backend: KubernetesBackend, key: str, wait_for) -> State:
    return wait_for(
        lambda: (state := state_of(backend, key)) is not None and state.is_final and state, 40
    )


def test_output_on_volume_outlives_job_and_pod(keeping, place, wait_for):
    keys = [
        keeping.submit(launch(f'echo {word} > "$MUSTER_OUTPUT_DIR/weights"')).key
        for word in ("one", "two")
    ]
    assert {over(keeping, key, wait_for) for key in keys} == {State.SUCCEEDED}
    for key in keys:
        keeping.forget(key)
    wait_for(lambda: all(keeping.find(key) is None for key in keys), 20)
    text = [keeping.output_of(key) for key in keys]
    assert [Path(output.path, "weights").read_text() for output in text] == ["one\n", "two\n"]
    assert {output.retention for output in text} == {OutputRetention.ON}


def test_read_only_volume_is_reported_before_job_runs(keeping, place, wait_for):
    key = launch().key
    Path(keeping.output_of(key).path).write_text("a file where the folder would be")
    keeping.submit(launch("echo ran", key=key))
    assert over(keeping, key, wait_for) == State.FAILED
    message = keeping.read_log(key, 0).data.decode()
    assert (
        message.startswith(f"muster: {keeping.output_of(key).path}, ")
        and "ran" not in message.splitlines()
    )


def test_output_without_volume_is_lost_and_lists_shared_folders():
    backend = KubernetesBackend.configured(
        {"server": "http://127.0.0.1:1", "shared": ["data:/data", "more:/more"]}
    )
    assert backend.output_of("t-1") == OutputFolder(
        "/muster/out", OutputRetention.RUN, ("/data", "/more")
    )
    made = pod.build(launch(image="local/bash:1"), backend.site).job["spec"]["template"]["spec"]
    assert [one["name"] for one in made["volumes"]] == ["given", "room", "shared-0", "shared-1"]


NO_PLACES = [
    "claim",
    "claim:/",
    "claim:/muster/out",
    "claim:/etc/x",
    "claim:/a/../b",
    ":/out",
    "claim:/data",
]


def test_invalid_output_volume_is_rejected(subtests):
    for word in NO_PLACES:
        with subtests.test(word=word):
            with pytest.raises(Rejected) as error:
                KubernetesBackend.configured({"shared": ["data:/data"], "outputs": word})
            assert error.value.field == "outputs"
