"""Generate random specs as plain data, parsed like the input of a client."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

_words = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)
_texts = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=40)
_printable = _texts.filter(str.isprintable)
_scripts = _texts.filter(lambda text: bool(text.strip()))
_sizes = st.integers(0, 1 << 50).map(lambda size: f"{size}B")
_durations = st.integers(1, 86400).map(lambda seconds: f"{seconds}s")
_env_names = st.from_regex(r"X[A-Z0-9_]{0,10}", fullmatch=True)
_dependencies = (
    st.integers(1, 10**6) | st.uuids().map(str) | st.integers(1, 99).map(lambda n: f"#{n}:any")
)
_ranges = st.lists(st.integers(0, 5000), min_size=1, max_size=6, unique=True).map(
    lambda ids: ",".join(map(str, sorted(ids)))
)


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


_resources = _some(
    accelerators=st.integers(0, 128)
    | st.tuples(_words, st.integers(1, 8)).map(lambda pair: f"{pair[0]}:{pair[1]}"),
    cpus=st.integers(1, 4096) | st.floats(0.1, 64),
    memory=_sizes,
    shm_size=_sizes,
)
_policy = _some(
    pool=_words,
    priority=st.sampled_from(["low", "normal", "high", "urgent"]),
    preempt=st.sampled_from(["runonce", "restartable", "resumable"]),
    max_runtime=_durations,
    retries=st.integers(1, 100),
    backoff=_durations,
    grace=st.integers(0, 3600),
)
_slurm = _some(
    account=_words,
    constraint=st.just("a100|h100"),
    signal=st.just("B:USR1@120"),
    tasks=st.integers(1, 99),
    exclusive=st.booleans(),
)
_array = st.fixed_dictionaries(
    {"range": _ranges}, optional={"max_parallel": st.integers(1, 100)}
) | st.fixed_dictionaries({"size": st.integers(1, 10_000)})

mappings: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"run": _scripts},
    optional={
        "name": _words,
        "image": _words,
        "num_nodes": st.integers(1, 4096),
        "resources": _resources,
        "launcher": st.sampled_from(["none", "torchrun", "mpi", "srun"]),
        "setup": _texts,
        "envs": st.dictionaries(_env_names, _texts, max_size=4),
        "secrets": st.dictionaries(st.just("SECRET"), st.just("team/wandb"), max_size=1),
        "inputs": st.just({"data": "c4@3f2a91c", "base": {"checkpoint": "r", "path": "/b"}})
        | st.just([{"dataset": "atlas/c4@3f2a91c", "path": "/data"}]),
        "outputs": st.just({"ckpt": {"checkpoint": "sft", "keep": {"last": 3}, "every": "10m"}})
        | st.just([{"path": "/results", "to": "checkpoint:atlas/sft", "every": "30m"}]),
        "workspaces": st.just(
            {"code": "vision", "ro": {"workspace": "w", "path": "/w", "read_only": True}}
        ),
        "ports": st.just([{"name": "tb", "port": 6006}]),
        "labels": st.dictionaries(_words, _printable, max_size=4),
        "array": _array,
        "after": st.lists(_dependencies, min_size=1, max_size=4),
        "policy": _policy,
        "slurm": _slurm,
    },
)
"""Plain data that the parser takes."""

_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.binary(max_size=5)
)
_keys = st.sampled_from(
    ["run", "name", "resources", "policy", "envs", "array", "after", "inputs", "range", "size"]
)
junk: st.SearchStrategy[Any] = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(_keys | st.text(max_size=8) | st.integers(), inner, max_size=5)
    ),
    max_leaves=20,
)
"""Anything at all, often under the names of real fields."""
