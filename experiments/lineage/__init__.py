"""The lineage of data: what a version, job, run or model was made from, and what was made from it."""

from experiments.lineage.graph import DEEPEST, DEPTH, MOST_NODES, Lineage, Node, lineage_of
from experiments.lineage.references import find_key, key_of

__all__ = [
    "DEEPEST",
    "DEPTH",
    "MOST_NODES",
    "Lineage",
    "Node",
    "find_key",
    "key_of",
    "lineage_of",
]
