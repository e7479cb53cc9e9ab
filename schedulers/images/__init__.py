"""Check whether an image can run on a node, from its config in the registry.

Nothing is pulled. `reference` parses names, `http` and `registry` fetch, `config` extracts facts,
`requirements` evaluates NVIDIA's conditions, `compatibility` matches images with nodes. No Django
and no models; unknown values are None.
"""
