"""Whether an image can run on a node: its config read from its registry without pulling, against what the node has.

`reference` reads names, `wire` and `registry` fetch, `config` makes facts of what came, `requirements` judges NVIDIA's
conditions, `fitting` puts image and nodes together. Nothing here knows Django or a model; what cannot be known is None.
"""
