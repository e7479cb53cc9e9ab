"""Test parsing: valid specs are normalized, invalid ones report all errors with field and line."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from schedulers.spec import (
    Accelerators,
    Array,
    Best,
    Condition,
    Dependency,
    Keep,
    Launcher,
    Preempt,
    Priority,
    Resume,
    SpecErrors,
    diff,
    parse_mapping,
    parse_yaml,
)
from schedulers.states import Reason

UUID_TEXT = "0190f3a4-5b6c-7d8e-9f00-112233445566"
FULL = """\
name: llama-sft
image: nvcr.io/nvidia/pytorch:26.09-py3
num_nodes: 2
resources: {accelerators: H100:8, cpus: 64+, memory: 512+, shm_size: 64Gi}
launcher: torchrun            # none | torchrun | mpi
setup: pip install -r requirements.txt
run: python train.py --data $DATA
envs: {NCCL_DEBUG: WARN}
secrets: {WANDB_API_KEY: team/wandb}
inputs:  [{dataset: atlas/c4@3f2a91c, path: /data}]
outputs: [{path: /results, to: checkpoint:atlas/llama-sft, every: 30m}]
ports: [{name: tb, port: 6006}]
policy: {pool: h100, priority: normal, preempt: resumable, max_runtime: 24h, retries: 3, retry_on: [node_fail, xid]}
"""


def faults(data: object) -> dict[str, str]:
    with pytest.raises(SpecErrors) as caught:
        parse_yaml(data) if isinstance(data, str) else parse_mapping(data)
    return {error.field: error.message for error in caught.value.errors}


def test_documented_example_is_normalized() -> None:
    spec = parse_yaml(FULL)
    assert (spec.resources.gpus, spec.resources.gpu_type, spec.resources.cpus) == (8, "h100", 64.0)
    assert (spec.resources.memory, spec.resources.shm_size) == (512 << 30, 64 << 30)
    assert (spec.num_nodes, spec.launcher, spec.processes_per_node) == (2, Launcher.TORCHRUN, 8)
    assert (spec.policy.max_runtime, spec.policy.preempt, spec.policy.priority) == (
        86400,
        Preempt.RESUMABLE,
        Priority.NORMAL,
    )
    assert spec.policy.retry_on == (Reason.NODE_FAILED, Reason.XID)
    assert spec.outputs["results"].every == 1800
    assert spec.outputs["results"].checkpoint == "atlas/llama-sft"
    assert spec.inputs["data"].path == "/data"


def test_one_line_spec_is_valid() -> None:
    spec = parse_yaml("run: hostname")
    assert (spec.run, spec.name, spec.tasks, spec.resources.gpus) == ("hostname", "job", 1, 0)


ACCELERATORS = [
    (1, Accelerators(1)),
    ("8", Accelerators(8)),
    ("H100:8", Accelerators(8, "h100")),
    ({"H100": 8}, Accelerators(8, "h100")),
    ("A100", Accelerators(1, "a100")),
    ("a100-80gb : 2", Accelerators(2, "a100-80gb")),
    ("gpu:2", Accelerators(2)),
    ("mig-1g.10gb:3", Accelerators(3, "mig-1g.10gb")),
    ({"L4": None}, Accelerators(1, "l4")),
    (0, Accelerators()),
]


def test_accelerators_accept_all_forms(subtests: pytest.Subtests) -> None:
    for written, meant in ACCELERATORS:
        with subtests.test(written=written, meant=meant):
            assert (
                parse_mapping(
                    {"run": "x", "resources": {"accelerators": written}}
                ).resources.accelerators
                == meant
            )


ARRAYS = [
    (10, Array((range(10),))),
    ("10", Array((range(10),))),
    ("0-9%2", Array((range(10),), 2)),
    ({"size": 10, "max_parallel": 3}, Array((range(10),), 3)),
    ({"range": "1,5,9"}, Array((range(1, 2), range(5, 6), range(9, 10)))),
    ("1-9:4", Array((range(1, 10, 4),))),
]


def test_arrays_accept_all_forms(subtests: pytest.Subtests) -> None:
    for written, meant in ARRAYS:
        with subtests.test(written=written, meant=meant):
            assert parse_mapping({"run": "x", "array": written}).array == meant


def test_array_task_has_id_from_range() -> None:
    array = parse_yaml("run: x\narray: 1-9:4,20,30-31").array
    assert array is not None
    assert [array.task_id(index) for index in range(array.size)] == [1, 5, 9, 20, 30, 31]
    with pytest.raises(IndexError):
        array.task_id(array.size)


DEPENDENCIES = [
    (12, Dependency(12)),
    ("#12", Dependency(12)),
    ("12:any", Dependency(12, condition=Condition.ANY)),
    ("#7:failed", Dependency(7, condition=Condition.FAILED)),
    (UUID_TEXT, Dependency(id=UUID(UUID_TEXT))),
    (f"{UUID_TEXT}:any", Dependency(id=UUID(UUID_TEXT), condition=Condition.ANY)),
]


def test_dependencies_accept_number_or_uuid_and_condition(
    subtests: pytest.Subtests,
) -> None:
    for written, meant in DEPENDENCIES:
        with subtests.test(written=written, meant=meant):
            assert parse_mapping({"run": "x", "after": [written]}).after == (meant,)
            assert parse_mapping({"run": "x", "after": written}).after == (meant,)


def test_variable_values_stay_as_typed() -> None:
    spec = parse_yaml(
        "run: x\nenvs: {VERSION: 1.10, FLAG: yes, ON: true, MODE: 0755, WHEN: 1:30, EXP: 1e5, "
        "EMPTY: ''}"
    )
    assert dict(spec.envs) == {
        "VERSION": "1.10",
        "FLAG": "yes",
        "ON": "true",
        "MODE": "0755",
        "WHEN": "1:30",
        "EXP": "1e5",
        "EMPTY": "",
    }


def test_scripts_with_crlf_are_normalized() -> None:
    assert parse_mapping({"run": "cd /x\r\nls\r\n"}).run == "cd /x\nls\n"


def test_variable_value_with_crlf_is_unchanged():
    spec = parse_mapping({"run": "true", "envs": {"PEM": "a\r\nb\r\n\rc"}})
    assert spec.envs == {"PEM": "a\r\nb\r\n\rc"} and parse_yaml(spec.to_yaml()).envs == spec.envs


def test_names_in_any_script_are_normalized() -> None:
    assert (
        parse_mapping({"run": "x", "name": "학습 №2"[:2] + " cafe\u0301"}).name == "학습 caf\u00e9"
    )


def test_paths_are_normalized() -> None:
    spec = parse_mapping({"run": "x", "inputs": [{"dataset": "atlas/c4", "path": "//data/./c4//"}]})
    assert spec.inputs["c4"].path == "/data/c4"


DATA = """\
run: x
inputs:
  data: cifar@v1.2
  base: {checkpoint: resnet, path: /base}
outputs:
  ckpt:
    checkpoint: resnet
    every: 10m
    keep: {last: 3, best: {metric: val_loss, mode: min, n: 2}}
    resume: latest
"""


def test_data_by_name_is_read_and_written_short() -> None:
    spec = parse_yaml(DATA)
    data, base, ckpt = spec.inputs["data"], spec.inputs["base"], spec.outputs["ckpt"]
    assert (data.kind, data.name, data.revision, data.path) == ("dataset", "cifar", "v1.2", "")
    assert (base.kind, base.name, base.revision, base.path) == ("checkpoint", "resnet", "", "/base")
    assert (ckpt.kind, ckpt.repository, ckpt.every, ckpt.resume) == (
        "checkpoint",
        "resnet",
        600,
        Resume.LATEST,
    )
    assert ckpt.keep == Keep(last=3, best=Best(metric="val_loss", n=2))
    assert "  data: cifar@v1.2\n" in spec.to_yaml() and parse_yaml(spec.to_yaml()) == spec


def test_diff_compares_inputs_by_name() -> None:
    before = parse_yaml(DATA)
    after = parse_yaml(DATA.replace("cifar@v1.2", "cifar@v2"))
    [change] = diff(before, after)
    assert (change.field, change.before, change.after) == ("inputs.data", "cifar@v1.2", "cifar@v2")


TEXTS = [  # text, line, expected words of the message
    ("", None, "is empty"),
    ("- a\n- b", 1, "must be a mapping"),
    ("just words", 1, "must be a mapping"),
    ("run: x\n\tname: y", 2, "indented with a tab"),
    ("run: 'x", 1, "quotation mark is missing"),
    ("run: a: b", 1, "mapping values are not allowed"),
    ("run: x\nrun: y", 2, "appears twice; it is first on line 1"),
    ("run: x\nenvs:\n  A: 1\n  A: 2", 4, "appears twice; it is first on line 3"),
    ("run: x\n---\nrun: y", 2, "second document"),
    ("a: &a [x]\nrun: *a", 1, "anchors (&a) are not supported"),
    ("run: *a", 1, "aliases"),
    ("run: !!python/object/apply:os.system [ls]", 1, "tags"),
    ("base: {}\n<<: {run: x}", 2, "merge keys"),
    ("1: x\nrun: y", 1, "put it in quotes"),
    ("? [a]\n: b", 1, "a key must be plain text"),
    ("run: x\nname: a\x07", 2, "contains the character '\\x07'"),
    ("run: x\n\n\nname: [a]", 4, "must be text, not a list"),
    ("run: x\nafter: #12", 2, "# begins a comment"),
    ("run: x\nafter:\n- 3\n- #12", 4, '"#12"'),
    ("a: " + "[" * 40, 1, "nested more than 16 levels"),
    ("run: x\n# " + "x" * 300_000, None, "at most 262,144"),
    ("run: x\nnum_nodes: 1e999", 2, "1e999 is not allowed"),
]


def test_invalid_text_is_reported_with_line(subtests: pytest.Subtests) -> None:
    for text, line, words in TEXTS:
        with subtests.test(text=text, line=line):
            with pytest.raises(SpecErrors) as caught:
                parse_yaml(text)
            assert [(error.line, words in error.message) for error in caught.value.errors] == [
                (line, True)
            ], caught.value


# data in addition to `run: x`, field, expected words of the message
VALUES: list[tuple[dict[str, Any], str, str]] = [
    ({"run": None}, "run", "is required"),
    ({"run": "  \n"}, "run", "is empty"),
    ({"run": "a\0b"}, "run", "NUL"),
    ({"setup": "\0"}, "setup", "NUL"),
    ({"run": "x" * 110_000}, "run", "at most 102,400"),
    ({"run": ["python", "x.py"]}, "run", "must be text, not a list"),
    ({"name": "n" * 101}, "name", "1 to 100 characters"),
    ({"name": "  "}, "name", "1 to 100 characters"),
    ({"name": "a\nb"}, "name", "control character"),
    ({"name": "a\x7fb"}, "name", "letters, digits, spaces"),
    ({"name": "a\u202eb"}, "name", "letters, digits, spaces"),
    ({"name": "<script>"}, "name", "letters, digits, spaces"),
    ({"image": "nvcr.io/../x"}, "image", "must be an image reference"),
    ({"image": "x; rm -rf /"}, "image", "must be an image reference"),
    ({"image": "-v/:/host"}, "image", "must be an image reference"),
    ({"num_nodes": 0}, "num_nodes", "from 1 to 4,096"),
    ({"num_nodes": 1.5}, "num_nodes", "whole number"),
    ({"num_nodes": True}, "num_nodes", "whole number"),
    ({"num_nodes": float("inf")}, "num_nodes", "whole number"),
    ({"num_nodes": 10**400}, "num_nodes", "too many digits"),
    ({"launcher": "torchrn"}, "launcher", "did you mean `torchrun`?"),
    ({"resources": {"cpus": -1}}, "resources.cpus", "out of range"),
    ({"resources": {"cpus": float("nan")}}, "resources.cpus", "finite"),
    ({"resources": {"cpus": 10**9}}, "resources.cpus", "out of range"),
    ({"resources": {"memory": -4}}, "resources.memory", "out of range"),
    ({"resources": {"memory": "64 giga"}}, "resources.memory", "must be a size such as 64Gi"),
    ({"resources": {"memory": 1 << 40}}, "resources.memory", "out of range"),
    ({"resources": {"memory": True}}, "resources.memory", "must be a size"),
    (
        {"resources": {"accelerators": {"H100": 1, "A100": 1}}},
        "resources.accelerators",
        "one GPU type",
    ),
    ({"resources": {"accelerators": "H100:0.5"}}, "resources.accelerators", "GPUs are whole"),
    ({"resources": {"accelerators": -1}}, "resources.accelerators", "whole number from 0 to 128"),
    ({"resources": {"accelerators": "H100:many"}}, "resources.accelerators", "whole number"),
    ({"resources": {"accelerators": "../x:1"}}, "resources.accelerators", "count and a GPU type"),
    ({"resources": {"acelerators": 1}}, "resources.acelerators", "did you mean `accelerators`?"),
    ({"resources": 4}, "resources", "must be a mapping"),
    ({"policy": {"max_runtime": "1h1d"}}, "policy.max_runtime", "in this order"),
    ({"policy": {"max_runtime": 0}}, "policy.max_runtime", "out of range"),
    ({"policy": {"max_runtime": "soon"}}, "policy.max_runtime", "must be a duration"),
    ({"policy": {"max_runtime": 10**30}}, "policy.max_runtime", "must be a duration"),
    ({"policy": {"retries": 101}}, "policy.retries", "from 0 to 100"),
    ({"policy": {"retry_on": ["xid"]}}, "policy.retry_on", "no effect without `retries`"),
    ({"policy": {"retries": 1, "retry_on": ["completed"]}}, "policy.retry_on[0]", "must be one of"),
    ({"policy": {"priority": "max"}}, "policy.priority", "low, normal, high, urgent"),
    ({"policy": {"pool": "../h100"}}, "policy.pool", "name of a pool"),
    *(
        ({"inputs": {"in": {"dataset": "c4", "path": path}}}, "inputs.in.path", words)
        for path, words in (
            ("data", "absolute path"),
            ("/data/../etc", "`..`"),
            ("/data\0", "NUL"),
            ("/proc/1", "belongs to the system"),
            ("/./", "belongs to the system"),
        )
    ),
    ({"inputs": {"in": "../../c4"}}, "inputs.in", "must be a name such as cifar"),
    ({"inputs": {"in": {"path": "/data"}}}, "inputs.in", "either `dataset` or `checkpoint`"),
    ({"inputs": {"in": {"datset": "c4"}}}, "inputs.in.datset", "did you mean `dataset`?"),
    ({"inputs": {"../in": "c4"}}, "inputs.../in", "is not a name of data"),
    ({"inputs": {"a.b": "c4", "A-b": "c4"}}, "inputs", "MUSTER_INPUT_A_B"),
    ({"inputs": [{"dataset": "c4"}]}, "inputs", "need a `path`"),
    (
        {"inputs": [{"dataset": "b", "path": "/x/d"}, {"dataset": "c", "path": "/d/"}]},
        "inputs",
        "two entries called d",
    ),
    (
        {"inputs": {n: {"dataset": "b", "path": "/d"} for n in "xy"}},
        "inputs",
        "/d is used twice",
    ),
    (
        {
            "inputs": {"x": {"dataset": "b", "path": "/d"}},
            "outputs": {"y": {"dataset": "b", "path": "/d/e"}},
        },
        "inputs",
        "/d/e is inside of /d",
    ),
    ({"outputs": [{"path": "/r", "to": "s3://x"}]}, "outputs", "checkpoint:name"),
    (
        {"outputs": {"x": {"checkpoint": "a", "keep": {"best": {"n": 1}}}}},
        "outputs.x.keep.best.metric",
        "is required: The metric",
    ),
    ({"ports": [{"name": "tb", "port": 70000}]}, "ports[0].port", "from 1 to 65,535"),
    (
        {"ports": [{"name": "a", "port": 1}, {"name": "b", "port": 1}]},
        "ports",
        "the port 1 is used twice",
    ),
    ({"secrets": {"KEY": "plain text"}}, "secrets.KEY", "team and name of a secret"),
    ({"secrets": {"A": "team/a"}, "envs": {"A": "1"}}, "secrets.A", "also set in `envs`"),
    ({"labels": {"-x": "1"}}, "labels.-x", "not a label name"),
    ({"labels": {str(n): "x" for n in range(33)}}, "labels", "at most 32"),
    ({"array": 0}, "array", "from 1 to 10,000"),
    ({"array": "5-1"}, "array", "ascending order"),
    ({"array": "1-3,2"}, "array", "without repeated ids"),
    ({"array": {"size": 1, "range": "1"}}, "array", "either `size`"),
    ({"array": {"count": 3}}, "array", "unknown key 'count'"),
    ({"array": "0-99999"}, "array", "at most 10,000"),
    ({"after": ["#12:soon"]}, "after[0]", "is not a condition"),
    ({"after": ["last"]}, "after[0]", "must be a job"),
    ({"after": [0]}, "after[0]", "whole number from 1"),
    ({"comand": "x"}, "comand", "is not a known key"),
    ({"command": "x"}, "command", "write the commands under `run`"),
    ({"gpus": 2}, "gpus", "resources: {accelerators"),
    ({5: "x"}, "5", "keys must be text"),
    ({"envs": {"A": None}}, "envs.A", 'write "" for an empty text'),
    ({"envs": {"A": float("inf")}}, "envs.A", "not a finite number"),
    ({"envs": {"A": "\0"}}, "envs.A", "NUL"),
    ({"envs": {f"A{n}": "x" * 60_000 for n in range(2)}}, "envs", "bytes long in all"),
]


def test_invalid_value_is_reported_with_allowed_values(subtests: pytest.Subtests) -> None:
    for data, field, words in VALUES:
        with subtests.test(data=data, field=field):
            found = faults({"run": "x", **data})
            assert list(found) == [field]
            assert words in found[field], found


FORBIDDEN = [
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_BIND_NOW",
    "DYLD_INSERT_LIBRARIES",
    "PYTHONSTARTUP",
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "IFS",
    "SHELLOPTS",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "MUSTER_TOKEN",
    "MUSTER_",
    "SLURM_JOB_ID",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "MASTER_ADDR",
    "WORLD_SIZE",
    "RANK",
    "PET_NNODES",
    "1A",
    "A-B",
    "A B",
    "",
    "A=B",
    "É",
    "A" * 129,
    "BASH_FUNC_ls%%",
    "A\n",
]


def test_dangerous_variable_is_rejected_with_reason(
    subtests: pytest.Subtests,
) -> None:
    for name in FORBIDDEN:
        with subtests.test(name=name):
            for section in ("envs", "secrets"):
                [(field, message)] = faults({"run": "x", section: {name: "a/b"}}).items()
                assert field.startswith(f"{section}.")
                assert "may not be set: " in message or "is not a variable name" in message


ALLOWED = [
    "LD_LIBRARY_PATH",
    "PATH",
    "HOME",
    "OMP_NUM_THREADS",
    "NCCL_DEBUG",
    "_x",
    "PET_MAX_RESTARTS",
]


def test_common_variables_are_allowed(subtests: pytest.Subtests) -> None:
    for name in ALLOWED:
        with subtests.test(name=name):
            assert parse_mapping({"run": "x", "envs": {name: "1"}}).envs == {name: "1"}


def test_all_errors_are_reported_in_line_order() -> None:
    with pytest.raises(SpecErrors) as caught:
        parse_yaml(
            "nam: x\nresources:\n  cpus: -1\n  memory: lots\nenvs:\n  LD_PRELOAD: x\nafter: [1, "
            "x]\npolicy: {retries: -1}\n"
        )
    found = [(error.line, error.field) for error in caught.value.errors]
    assert sorted(found, key=lambda pair: pair[0] or 0) == found
    assert set(found) == {
        (None, "run"),
        (1, "nam"),
        (3, "resources.cpus"),
        (4, "resources.memory"),
        (6, "envs.LD_PRELOAD"),
        (7, "after[1]"),
        (8, "policy.retries"),
    }


def test_error_message_shortens_long_values() -> None:
    [(field, message)] = faults({"run": "x", "launcher": "y" * 100_000}).items()
    assert field == "launcher"
    assert len(message) < 300
