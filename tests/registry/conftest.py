"""A model of Vision, and files of models."""

from __future__ import annotations

import json
import pickle
import struct
from types import SimpleNamespace

import pytest

from registry import services
from registry.services.versions import About
from workspaces.tenancy.scope import org_scope


def safetensors(**metadata: str) -> bytes:
    """Return a file with two tensors: 6 numbers of F32 and 4 of BF16."""
    header = json.dumps(
        {
            "__metadata__": metadata,
            "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
            "bias": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]},
        }
    ).encode()
    return struct.pack("<Q", len(header)) + header + bytes(32)


class Runs:
    """An object whose pickle runs a program when it is loaded."""

    def __reduce__(self):
        return (eval, ("1 + 1",))


UNSAFE = pickle.dumps(Runs())
MLMODEL = b"""flavors:
  python_function: {loader_module: mlflow.sklearn}
signature:
  inputs: '[{"name": "x", "type": "double"}]'
  outputs: '[{"type": "long"}]'
"""


def uploaded(actor, model, *, files=None, about=None):
    """Return a version that was uploaded."""
    row = services.start_upload(actor=actor, model=model, about=about or About())
    for path, data in (files or {"model.safetensors": safetensors()}).items():
        services.put_file(actor=actor, version=row, path=path, chunks=[data])
    return services.finish_upload(actor=actor, version=row)


@pytest.fixture
def stage(story, home):
    """Return Ada (owner of Atlas) and Ben (member of Vision), who has created a model."""
    with org_scope(story.atlas.id):
        actor = story.actor
        model = services.create_model(
            actor=actor(story.ben), team=story.vision, name="digits", description="# Digits"
        )
        yield SimpleNamespace(
            ada=actor(story.ada),
            ben=actor(story.ben),
            cyd=story.cyd,
            story=story,
            model=model,
            vision=story.vision,
        )
