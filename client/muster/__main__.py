"""Entry point of `python -m muster`."""

from __future__ import annotations

from muster.cli import main

main()
