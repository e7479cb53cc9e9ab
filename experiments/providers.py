"""What this app answers to the layers below it (docs/design/layout.md)."""

from __future__ import annotations

from experiments import artifacts, space_sources
from experiments.lineage.edges import referred_to
from experiments.model_sources import RunSources
from experiments.web import lineage
from experiments.web.job_links import run_links

FILE_REFERENCES = (artifacts.referenced,)
JOB_LINKS = (run_links,)
LINEAGE = (lineage.describe,)
MODEL_SOURCES = (RunSources(),)
SPACE_SOURCES = (space_sources.SOURCE,)
VERSION_REFERENCES = (referred_to,)
