"""Ask huggingface_hub for what scripts use beside uploads and downloads."""

import json
import random
from pathlib import Path

from huggingface_hub import CommitOperationCopy, HfApi, HfFileSystem, hf_hub_download
from huggingface_hub.errors import (
    BadRequestError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

api = HfApi()
named = {"repo_id": "home/questions", "repo_type": "dataset"}


def raised(call, **arguments):
    """Return the error of a call."""
    try:
        call(**arguments)
    except HfHubHTTPError as error:
        return error
    raise AssertionError(call)


api.create_repo(**named, private=False)
assert not api.repo_info(**named).private
api.create_tag(**named, tag="empty")
assert [ref.name for ref in api.list_repo_refs(**named).tags] == ["empty"]
assert raised(api.create_tag, **named, tag="empty").response.status_code == 409
assert isinstance(raised(api.delete_tag, **named, tag="main"), RevisionNotFoundError)
assert isinstance(raised(api.update_repo_settings, **named, gated="auto"), BadRequestError)
api.update_repo_settings(**named, private=True)
assert api.repo_info(**named).private

folder = Path("folder")
(folder / "logs").mkdir(parents=True)
for name in ("a.csv", "logs/b.log", ".gitignore"):
    (folder / name).write_text("logs/\n")
api.upload_folder(**named, folder_path=folder, commit_message="First")
assert api.list_repo_files(**named) == [".gitignore", "a.csv"]
api.upload_file(**named, path_or_fileobj=b"x", path_in_repo="d/x.csv", commit_message="Second")
tree = {entry.path: entry.last_commit for entry in api.list_repo_tree(**named, expand=True)}
assert {path: commit.title for path, commit in tree.items()} == {
    ".gitignore": "First",
    "a.csv": "First",
    "d": "Second",
}
[info] = api.get_paths_info(**named, paths="a.csv", expand=True)
system = HfFileSystem()
assert system.modified("datasets/home/questions/a.csv") == info.last_commit.date

api.super_squash_history(**named, commit_message="One")
assert [commit.title for commit in api.list_repo_commits(**named)] == ["One"]
api.move_repo("home/questions", "home/answers", repo_type="dataset")
assert api.repo_info(**named).id == "home/answers"
assert Path(hf_hub_download(**named, filename="d/x.csv", local_dir="found")).read_text() == "x"
api.upload_file(**named, path_or_fileobj=bytes(100_000), path_in_repo="big.bin")
assert api.file_exists("home/answers", "big.bin", repo_type="dataset")

api.create_repo("home/copies", repo_type="model")
sources = {"src_repo_id": "home/answers", "src_repo_type": "dataset"}
operations = [
    CommitOperationCopy(src_path_in_repo=name, path_in_repo=f"from/{name}", **sources)
    for name in ("big.bin", "d/x.csv")
]
api.create_commit("home/copies", operations, commit_message="Copy")
data = random.Random(1).randbytes(40_000_003)  # several segments
api.upload_file(repo_id="home/copies", path_or_fileobj=data, path_in_repo="40.bin")
assert system.cat("home/copies/from/big.bin") == bytes(100_000)
for name, content in (("from/big.bin", bytes(100_000)), ("from/d/x.csv", b"x"), ("40.bin", data)):
    system.get_file(f"home/copies/{name}", "got")
    assert Path("got").read_bytes() == content, name

error = raised(HfApi(token="mst_wrong").repo_info, **named)
assert not isinstance(error, RepositoryNotFoundError)
assert "Invalid credentials" in str(error), error
error = raised(api.create_discussion, **named, title="Hello")
assert not isinstance(error, RepositoryNotFoundError)
assert "There is no POST" in str(error), error
print(json.dumps("done"))
