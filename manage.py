#!/usr/bin/env python
"""Run a management command of Django."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    if sys.argv[1:2] == ["serve"] and {"-h", "--help"}.isdisjoint(sys.argv):
        from portal.process import main as serve

        sys.exit(serve(sys.argv[2:]))
    if sys.argv[1:] in (["version"], ["--version"]):
        from django.conf import settings

        print(f"muster {settings.MUSTER_VERSION}")
        return
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
