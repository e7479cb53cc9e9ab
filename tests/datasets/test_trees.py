"""Trees behave as dictionaries from path to file, in blocks that versions share."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets import trees
from datasets.trees import Folder, PathConflict, Tree, TreeEntry, changed_tree, differences
from tests.rig.seeds import examples

NAMES = st.text('ab-.é\U0001f600"\\,[]', min_size=1, max_size=3)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
CHANGES = st.dictionaries(PATHS, st.one_of(st.none(), st.sampled_from(["aa", "bb"])), max_size=12)


class Model:
    """A tree, its blocks, and the same as a dictionary."""

    def __init__(self):
        self.data, self.files, self.tree = {}, {}, Tree([], lambda digests: {})

    def change(self, changes):
        entries = {path: sha and TreeEntry(path, sha, len(path)) for path, sha in changes.items()}
        blocks, data = changed_tree(self.tree, entries)
        self.data |= data
        self.tree = Tree(blocks, lambda digests: {d: self.data[d] for d in digests})
        for path, entry in entries.items():
            self.files.pop(path, None)
            if entry:
                self.files[path] = entry

    def has_conflict(self, changes):
        paths = self.files.keys() - {path for path, sha in changes.items() if sha is None}
        paths |= {path for path, sha in changes.items() if sha}
        return any(other.startswith(f"{path}/") for path in paths for other in paths)


@given(steps=st.lists(CHANGES, max_size=6), folder=PATHS)
@settings(max_examples=examples(150), deadline=None)
def test_trees_are_dictionaries(steps, folder):
    model = Model()
    trees.AVERAGE = 3  # small blocks
    try:
        for changes in steps:
            before, files = model.tree, dict(model.files)
            if model.has_conflict(changes):
                with pytest.raises(PathConflict):
                    model.change(changes)
                continue
            model.change(changes)
            _compare(model, folder)
            found = {d.path: (d.before, d.after) for d in differences(before, model.tree)}
            assert found == {
                path: (files.get(path), model.files.get(path))
                for path in files.keys() | model.files.keys()
                if files.get(path) != model.files.get(path)
            }
    finally:
        trees.AVERAGE = 1024


def _compare(model, folder):
    tree, files = model.tree, model.files
    ordered = sorted(files, key=trees.sort_key)
    assert [entry.path for entry in tree.entries()] == ordered
    assert tree.files == len(files)
    assert tree.bytes == sum(map(len, files))
    assert tree.find(folder) == files.get(folder)
    for top in ("", folder):
        inside = f"{top}/" if top else ""
        below = [path for path in ordered if path.startswith(inside)]
        assert [entry.path for entry in tree.below(top)] == below
        names = list(dict.fromkeys(path[len(inside) :].split("/")[0] for path in below))
        listed = [entry.path for entry in tree.listing(top)]
        assert listed == [inside + name for name in names]
        for number, path in enumerate(listed):
            assert [entry.path for entry in tree.listing(top, path)] == listed[number + 1 :]
    for entry in tree.listing():
        assert isinstance(entry, Folder) == (entry.path not in files)


def test_a_small_change_rewrites_one_block():
    files = {
        f"d{n % 100}/{n:06}.png": TreeEntry(f"d{n % 100}/{n:06}.png", "aa", 1)
        for n in range(20_000)
    }
    blocks, data = changed_tree(Tree([], lambda digests: {}), files)
    assert 8 < len(blocks) < 60
    tree = Tree(blocks, lambda digests: {d: data[d] for d in digests})
    changed, new = changed_tree(tree, {"d7/000007.png": TreeEntry("d7/000007.png", "bb", 1)})
    assert len(new) == 1
    assert len(set(changed) & set(blocks)) == len(blocks) - 1


def test_paths_that_look_like_json_are_listed_and_compared():
    names = ["a],[", 'a],["b', 'b",', 'b","c', "c\\", 'c\\","', '"', '],["', "d],[/e],["]
    model = Model()
    model.change(dict.fromkeys(names, "aa"))
    _compare(model, "d],[")
    assert list(model.tree.paths()) == [entry.path for entry in model.tree.entries()]
    before = model.tree
    model.change({"a],[": "bb", 'b",': None})
    _compare(model, "")
    found = [one.path for one in differences(before, model.tree)]
    assert found == ["a],[", 'b",']
    assert [one.path for one in differences(before, model.tree, "a],[")] == ['b",']
