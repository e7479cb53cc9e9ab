"""Upload, change, browse and download with huggingface_hub; prints the bytes of each upload."""

import filecmp
import json
import random
import sys
from pathlib import Path

from huggingface_hub import HfApi, hf_hub_download, snapshot_download
from huggingface_hub.utils import (
    EntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

api = HfApi()
repo, kind = f"home/{sys.argv[1]}", sys.argv[2]
named = {"repo_id": repo, "repo_type": kind}
assert api.whoami()["name"] == "home"
for _ in range(2):
    assert api.create_repo(**named, exist_ok=True).repo_id == repo
folder = Path("folder")
(folder / "texts" / "öl").mkdir(parents=True)
(folder / "README.md").write_text("---\ntags: [digits]\n---\n# Digits\n")
for number in range(12):
    (folder / "texts" / "öl" / f"{number}.txt").write_text(str(number) * 10_000 * number)
data = bytearray(random.Random(1).randbytes(12_000_000) + bytes(4_000_000))
(folder / "weights.bin").write_bytes(data)


def check(revision=None):
    """Download everything and compare."""
    found = Path(snapshot_download(**named, revision=revision, local_dir="found"))
    assert api.list_repo_files(**named, revision=revision) == [
        "README.md",
        *sorted(f"texts/öl/{number}.txt" for number in range(12)),
        "weights.bin",
    ]
    for path in folder.rglob("*.*"):
        assert filecmp.cmp(path, found / path.relative_to(folder), shallow=False), path


first = api.upload_folder(**named, folder_path=folder, commit_message="First")
check()
data[5_000_000:5_000_100] = random.Random(2).randbytes(150)
(folder / "weights.bin").write_bytes(data)
second = api.upload_folder(**named, folder_path=folder, commit_message="Second")
check()
api.create_tag(**named, tag="v1", revision=first.oid, tag_message="The first")
assert api.repo_info(**named, revision="v1").sha == first.oid
assert [ref.name for ref in api.list_repo_refs(**named).tags] == ["v1"]
assert [commit.title for commit in api.list_repo_commits(**named)] == ["Second", "First"]
assert "digits" in api.repo_info(**named).tags
assert [entry.path for entry in api.list_repo_tree(**named)] == [
    "README.md",
    "texts",
    "weights.bin",
]
api.create_branch(**named, branch="wip/a", revision=first.oid)
api.delete_file("weights.bin", **named, revision="wip/a")
assert not api.file_exists(repo, "weights.bin", repo_type=kind, revision="wip/a")
api.delete_branch(**named, branch="wip/a")
for call, error in (
    (lambda: api.repo_info("home/none", repo_type=kind), RepositoryNotFoundError),
    (lambda: api.repo_info("elsewhere/none", repo_type=kind), RepositoryNotFoundError),
    (lambda: api.repo_info(**named, revision="none"), RevisionNotFoundError),
    (lambda: hf_hub_download(repo, "none", repo_type=kind), EntryNotFoundError),
):
    try:
        call()
    except error:
        continue
    raise AssertionError(error)
try:
    api.upload_file(**named, path_or_fileobj=b"late", path_in_repo="late", parent_commit=first.oid)
    answer = "committed on an old parent"
except Exception as error:
    answer = str(error)
assert "412" in answer, answer
print(json.dumps([first.oid, second.oid]))
