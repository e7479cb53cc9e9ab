"""Test the parsing of Slurm scripts."""

from __future__ import annotations

import random

import pytest

from schedulers.spec import Condition, Dependency, SpecErrors, parse_sbatch, parse_text
from tests.cases import read_case

SCRIPT = """\
#!/bin/bash
# Trains it.
#SBATCH --job-name=train --nodes=2
#SBATCH -n 4 -c8
#SBATCH --gres=gpu:h100:2   # two on each
#SBATCH --mem=64G -t 1-12:00:00
#SBATCH -o out.%j
#SBATCH --dependency=afterok:12:13,afterany:5
#SBATCH -p GPU
#SBATCH --array=0-9%2

module load cuda
srun python train.py
#SBATCH --mem=1G
"""


def spec_of(*options: str):
    return parse_sbatch(
        "#!/bin/bash\n" + "".join(f"#SBATCH {option}\n" for option in options) + "hostname\n"
    ).spec


def test_script_becomes_spec_and_stays_verbatim() -> None:
    spec = parse_text(SCRIPT).spec
    assert spec.run == SCRIPT
    assert (spec.name, spec.num_nodes, spec.policy.pool, spec.policy.max_runtime) == (
        "train",
        2,
        "gpu",
        129600,
    )
    assert (spec.resources.gpus, spec.resources.gpu_type, spec.resources.cpus) == (2, "h100", 16)
    assert spec.resources.memory == 64 << 30
    assert spec.array is not None
    assert (spec.array.size, spec.array.max_parallel) == (10, 2)
    assert spec.after == (Dependency(12), Dependency(13), Dependency(5, condition=Condition.ANY))


def test_ignored_options_are_noted_with_line() -> None:
    notes = parse_text(SCRIPT).notes
    assert [(note.field, note.line) for note in notes] == [
        ("#SBATCH --ntasks", None),
        ("#SBATCH --output", 7),
        ("run", None),
    ]
    assert "keeps the whole output" in notes[1].message
    assert "srun" in notes[2].message


FIRST_NODE = [
    ("#SBATCH -N 2\nsrun python train.py\n", "srun"),
    ("srun hostname\n", "srun"),
    ("exec srun hostname\n", "srun"),
    ("#SBATCH -N 2\ntorchrun train.py\n", "srun"),
    ("python train.py # not srun\n", "none"),
]


def test_multi_node_script_runs_on_first_node(
    subtests: pytest.Subtests,
) -> None:
    for text, launcher in FIRST_NODE:
        with subtests.test(text=text, launcher=launcher):
            assert parse_sbatch("#!/bin/bash\n" + text).spec.launcher.value == launcher


def test_script_without_options_is_a_spec() -> None:
    parsed = parse_text("#!/bin/sh\necho hi\n")
    assert (parsed.spec.run, parsed.notes) == ("#!/bin/sh\necho hi\n", ())


def test_text_without_shebang_is_yaml() -> None:
    assert parse_text("run: hostname").spec.run == "hostname"


def test_options_after_first_command_are_ignored() -> None:
    assert spec_of("-n 2").resources.cpus == 2
    assert parse_sbatch("#!/bin/bash\nls\n#SBATCH -n 2\n").spec.resources.cpus == 1


TIMES = [
    ("90", 5400),
    ("90:30", 5460),
    ("24:00:00", 86400),
    ("1-12", 129600),
    ("1-12:30", 131400),
    ("2-0:0:1", 172860),
    ("0:1", 60),
    ("5-", 432000),
    ("infinite", None),
    ("UNLIMITED", None),
    ("0", None),
]


def test_times_are_parsed_like_slurm(subtests: pytest.Subtests) -> None:
    for text, seconds in TIMES:
        with subtests.test(text=text, seconds=seconds):
            assert spec_of(f"--time={text}").policy.max_runtime == seconds


GPUS = [
    (["--gres=gpu:2"], (2, "")),
    (["--gres=gpu:A100:4"], (4, "a100")),
    (["--gres=gpu"], (1, "")),
    (["--gres=gpu:h100"], (1, "h100")),
    (["--gpus=h100"], (1, "h100")),
    (["--gpus=3"], (3, "")),
    (["-G", "h100:2"], (2, "h100")),
    (["--gpus-per-node=h100:8", "-N2"], (8, "h100")),
    (["-N 2", "--gpus=h100:16"], (8, "h100")),
    (["-n1 --gpus-per-task=2"], (2, "")),
    (["--gres=gpu:2080ti:2"], (2, "2080ti")),
    (["--gres=gpu:1g.5gb:1"], (1, "mig-1g.5gb")),
    (["-G", "1g.10gb:3"], (3, "mig-1g.10gb")),
    (["--gres=none"], (0, "")),
    (["--gpus=4 --gpus-per-node=2"], (2, "")),
    (["-n8 --ntasks-per-gpu=2"], (4, "")),
    (["-n2 --tres-per-task=cpu:4,gres/gpu:h100:1"], (2, "h100")),
    (["-n4 --gpus-per-task=h100:1"], (4, "h100")),
    (["-N2 --ntasks-per-node=4 --gpus-per-task=1"], (4, "")),
]


def test_gpus_are_counted_per_node(subtests: pytest.Subtests) -> None:
    for options, gpus in GPUS:
        with subtests.test(options=options, gpus=gpus):
            resources = spec_of(" ".join(options)).resources
            assert (resources.gpus, resources.gpu_type) == gpus


MEMORY = [
    (["--mem=4000"], 4000 << 20),
    (["--mem=16G"], 16 << 30),
    (["--mem=1500K"], 2 << 20),
    (["--mem=1tb"], 1 << 40),
    (["--gpus=2 --cpus-per-gpu=8 --mem-per-cpu=1G"], 16 << 30),
    (["--mem-per-cpu=2G", "-c4"], 8 << 30),
    (["--mem-per-gpu=10G", "--gres=gpu:h100:2"], 20 << 30),
    (["--mem=512M"], 512 << 20),
]


def test_memory_is_counted_per_node(subtests: pytest.Subtests) -> None:
    for options, size in MEMORY:
        with subtests.test(options=options, size=size):
            assert spec_of(*options).resources.memory == size


def test_other_options_are_converted() -> None:
    spec = spec_of(
        "--requeue",
        "--comment='my first'",
        "--container-image='nvcr.io#nvidia/pytorch:26.09-py3'",
        "-a 1,5",
    )
    assert spec.policy.retries == 1
    assert spec.labels == {"comment": "my first"}
    assert spec.image == "nvcr.io/nvidia/pytorch:26.09-py3"
    assert spec.array is not None
    assert [spec.array.task_id(index) for index in range(2)] == [1, 5]


REFUSED = [
    ("--tme=5", "did you mean `time`?"),
    ("--mem=lots", "must be a size"),
    ("--time=soon", "must be a time"),
    ("--nodes=0", "number of nodes from 1"),
    ("--wrap=ls", "as a line of the script"),
    ("--dependency=singleton", "must be afterok"),
    ("--dependency=afterok:1?afterok:2", "any one"),
    ("--gres=fpga:1", "other generic resources"),
    ("-N3 --gpus=4", "evenly among 3 nodes"),
    ("-N4 --gpus=2 --ntasks-per-gpu=1", "evenly among 4 nodes"),
    ("-c x", "whole number from 1"),
    ("--begin=tomorrow", "not supported"),
    ("--constraint='$(id)'", "must be features"),
    ("--account='a b'", "one word"),
    ("--exclusive=user", "no value"),
    ("--signal=@9", "must be a signal"),
    ("-q '$(id)'", "one word"),
    ("-p gpu,other", "one pool"),
    ("--mem=0", "all memory"),
    ("--mem=4G --mem-per-cpu=1G", "only one of"),
    ("--cpus-per-gpu=4", "no GPUs"),
    ("--gres=gpu:0 --ntasks-per-gpu=1", "no GPUs"),
    ("-N1 -G4 --gpus-per-task=2", "contradict"),
    ("-n1 --gres=gpu:1 --gpus-per-task=1 --ntasks-per-node=8", "change one of the two"),
    ("-G2 --cpus-per-gpu=4 -c 2", "cannot be combined"),
    ("--gpus-per-task=2", "needs --ntasks"),
    ("--gpus-per-socket=2", "--gpus-per-node"),
    ("--gres=gpu:2080ti", "must be GPUs"),
    ("--gres=gpu:a100:1,gpu:h100:1", "of one type"),
    ("-N 2-4", "fixed number of nodes"),
    ("-w n3", "--constraint"),
    ("--export=HOME", "write HOME=VALUE"),
    ("--export=SLURM_X=1", "may not be set"),
    ("--hold=yes", "takes no value"),
    ("--gpus-per=2", "may mean --gpus-per-node"),
    ("hetjob", "submit each component"),
    (": -N 2", "may not begin with `:`"),
    ('--comment "" --mem=1G', "empty word"),
    ("--container-image=nvcr.io#nvidia/cuda", "quotation marks"),
    ("--hint=nomultithread", "not supported"),
    ("--array=3%0", "tasks at a time"),
    ("--time=9999-0", "out of range"),
    ("--job-name='x", "quotation mark"),
    ("--time", "has no value"),
    ("-Z 4", "not an option of sbatch"),
    ("train.py", "not an option of sbatch"),
    ("--dependency=afterok:x", "must be a job"),
    ("--array=9-1", "ascending order"),
    ("--array=1-20000", "at most 10,000"),
]


def test_unsupported_option_is_rejected_with_line(subtests: pytest.Subtests) -> None:
    for option, words in REFUSED:
        with subtests.test(option=option, words=words):
            with pytest.raises(SpecErrors) as caught:
                spec_of("-J x", option)
            assert [(error.line, words in error.message) for error in caught.value.errors] == [
                (3, True)
            ], caught.value


def test_comment_after_options_is_ignored() -> None:
    assert spec_of("-J x # don't ask", '--comment="a # b" # c').labels == {"comment": "a # b"}


def test_script_with_crlf_is_normalized() -> None:
    spec = parse_text("#!/bin/bash\r\n#SBATCH -J win\r\necho hi\r\n").spec
    assert (spec.name, spec.run) == ("win", "#!/bin/bash\n#SBATCH -J win\necho hi\n")


def test_slurm_only_options_are_passed_on_with_note() -> None:
    text = (
        "#!/bin/bash\n#SBATCH -A vision -q long\n#SBATCH --signal=RB:USR1@120\n#SBATCH -C "
        "'a100|h100' --reservation=course-7\n"
        "#SBATCH -L matlab:2 --exclusive\nsrun hostname\n"
    )
    parsed = parse_sbatch(text)
    slurm = parsed.spec.slurm
    assert (slurm.account, slurm.qos, slurm.reservation, slurm.constraint) == (
        "vision",
        "long",
        "course-7",
        "a100|h100",
    )
    assert (slurm.signal, slurm.licenses, slurm.exclusive) == ("B:USR1@120", "matlab:2", True)
    assert {(note.field, note.line) for note in parsed.notes} >= {
        ("#SBATCH --account", 2),
        ("#SBATCH --qos", 2),
        ("#SBATCH --signal", 3),
        ("#SBATCH --constraint", 4),
        ("#SBATCH --reservation", 4),
        ("#SBATCH --licenses", 5),
        ("#SBATCH --exclusive", 5),
    }
    assert all("is passed on" in note.message for note in parsed.notes if note.field != "run")


CASES = [
    ("array-single", lambda spec: (spec.tasks, spec.array.task_id(0)), (1, 7)),
    ("backslash", lambda spec: (spec.resources.gpus, spec.resources.memory), (1, 8 << 30)),
    (
        "cpus-per-gpu",
        lambda spec: (spec.resources.gpus, spec.resources.cpus, spec.resources.memory),
        (2, 16, 64 << 30),
    ),
    ("export-values", lambda spec: spec.envs, {"LR": "0.003", "DATA": "/data/cifar"}),
    ("indented-comment", lambda spec: (spec.resources.gpus, spec.resources.memory), (4, 64 << 30)),
    (
        "optional-value",
        lambda spec: (spec.resources.memory, spec.policy.max_runtime),
        (64 << 30, 7200),
    ),
    ("type-digit", lambda spec: (spec.resources.gpus, spec.resources.gpu_type), (2, "2080ti")),
    ("type-mig", lambda spec: (spec.resources.gpus, spec.resources.gpu_type), (1, "mig-1g.5gb")),
]


def test_public_scripts_mean_what_they_mean_to_sbatch(subtests: pytest.Subtests) -> None:
    for name, value, expected in CASES:
        with subtests.test(name=name):
            assert value(parse_text(read_case(f"sbatch-{name}.sh").decode()).spec) == expected
    with pytest.raises(SpecErrors, match=r"line 2: a batch script begins with `#!`"):
        parse_text(read_case("sbatch-comment-before-shebang.sh").decode())


LINES = [
    ("#SBATCH--mem=2G", lambda spec: spec.resources.memory, 2 << 30),
    ("#SLURM --mem=2G", lambda spec: spec.resources.memory, 2 << 30),
    ("#SBATCH --mem\n#SBATCH 2G", lambda spec: spec.resources.memory, 2 << 30),
    ("#SBATCH --cpus-per-t 3 -Hn1", None, None),
    ("#SBATCH --cpus-per-t 3", lambda spec: spec.resources.cpus, 3),
    ("#SBATCH -sc3", lambda spec: spec.resources.cpus, 3),
    ("#SBATCH -J a#b --mem=2G", lambda spec: (spec.name, spec.resources.memory), ("a", 0)),
    ("#SBATCH -J 'a#b'", lambda spec: spec.name, "a#b"),
    ("#SBATCH -J a\\#b", lambda spec: spec.name, "a#b"),
    ("#SBATCH -D '/data/my run'", lambda spec: spec.setup, "cd -- '/data/my run'"),
    ("#SBATCH --array=[1,9,3-5]%2", lambda spec: (spec.tasks, spec.array.max_parallel), (5, 2)),
    ("#SBATCH --array=5,0-8:4,5", lambda spec: spec.array.task_id(2), 5),
    ("#SBATCH --requeue --no-requeue", lambda spec: spec.policy.retries, 0),
    ("#SBATCH -C '[a*2&b*4]|(c&d)'", lambda spec: spec.slurm.constraint, "[a*2&b*4]|(c&d)"),
    ("#SBATCH --export=\"ALL,'X=1,2'\"", lambda spec: spec.envs, {"X": "1,2"}),
    ("#PBS -l mem=1gb", None, None),
    ("#SBATCH --ignore-pbs\n#PBS -l mem=1gb", lambda spec: spec.resources.memory, 0),
]


def test_lines_are_split_like_sbatch(subtests: pytest.Subtests) -> None:
    for lines, value, expected in LINES:
        with subtests.test(lines=lines):
            text = f"#!/bin/bash\n{lines}\ntrue\n"
            if value is None:
                with pytest.raises(SpecErrors, match="not supported"):
                    parse_sbatch(text)
            else:
                assert value(parse_sbatch(text).spec) == expected


TASKS = [
    ("-n 8 -c 2", (8, 0, 0), 16),
    ("-N2 --ntasks-per-node=4 -c2", (8, 4, 0), 8),
    ("-N2 -n5", (5, 0, 0), 3),
    ("-n2 --gpus-per-task=2", (2, 0, 2), 2),
    ("-N2 -n4 --gpus-per-task=1", (4, 2, 1), 2),
    ("-n2 --cpus-per-gpu=3 --gpus-per-task=2", (2, 0, 2), 12),
]


def test_tasks_are_passed_to_srun_and_counted_as_cores(subtests: pytest.Subtests) -> None:
    for options, tasks, cpus in TASKS:
        with subtests.test(options=options, tasks=tasks):
            spec = spec_of(options)
            assert (spec.slurm.tasks, spec.slurm.tasks_per_node, spec.slurm.gpus_per_task) == tasks
            assert spec.resources.cpus == cpus


COUNTS = (
    *("-N", "-n", "--ntasks-per-node=", "--ntasks-per-gpu=", "--ntasks-per-tres=", "-c"),
    *("--cpus-per-gpu=", "--mincpus=", "--gres=gpu:", "-G", "--gpus-per-node=", "--mem="),
    *("--gpus-per-task=", "--tres-per-task=cpu:", "--tres-per-task=gres/gpu:"),
    *("--mem-per-cpu=", "--mem-per-gpu="),
)


def test_counts_in_any_combination_are_read_or_refused_by_name() -> None:
    dice = random.Random(1)
    unnamed = []
    for _ in range(800):
        names = dice.sample(COUNTS, dice.randint(1, 6))
        options = " ".join(f"{name}{dice.choice((0, 1, 2, 3, 4, 9, 99999999))}" for name in names)
        try:
            spec_of(options)
        except SpecErrors as refused:
            unnamed += [e for e in refused.errors if not e.field.startswith("#SBATCH --")]
    assert not unnamed
