"""Test this machine's GPUs with a double of NVML, as the test machines have none."""

import os
import sys

import pynvml
import pytest

from schedulers.images.config import arch_name
from schedulers.local.machine import machine
from tests.agent.nvml_double import Device, Nvml


def test_machine_reports_gpus_driver_and_cuda(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", Nvml(Device("GPU-1")))
    found = machine()
    assert (found.arch, found.driver, found.cuda) == (
        arch_name(os.uname().machine),
        "570.86.15",
        "12.8",
    )
    assert [(gpu.uuid, gpu.type, gpu.compute) for gpu in found.gpus] == [("GPU-1", "h100", "9.0")]


def test_machine_without_driver_has_note_and_architecture(monkeypatch):
    nvml = Nvml()
    nvml.driver = nvml.NVML_ERROR_DRIVER_NOT_LOADED
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    found = machine()
    assert (
        found.gpus == []
        and found.note.startswith("No GPU")
        and (found.driver, found.cuda) == ("", "")
    )
    assert found.arch


def test_machine_lists_gpus_without_memory_beside_a_lost_one(monkeypatch):
    nvml = Nvml(
        Device("GPU-1", name="NVIDIA GB10", metrics={}),
        Device("GPU-2", failure=pynvml.NVML_ERROR_GPU_IS_LOST),
    )
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    found = machine()
    assert [(gpu.index, gpu.type, gpu.memory) for gpu in found.gpus] == [(0, "gb10", 0)]
    assert found.note.startswith("GPU 1 cannot be opened")


pytestmark = pytest.mark.filterwarnings("error::DeprecationWarning")
