"""Declare `manage.py serve`, for its help.

manage.py itself calls portal.process directly, to avoid loading Django.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Run the portal: embedded by default, the whole server stack with --server."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        from portal.process.command import add_options

        add_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        from portal.process import main

        sys.exit(main(sys.argv[2:]))
