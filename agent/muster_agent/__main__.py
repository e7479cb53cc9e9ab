from __future__ import annotations

import sys

from muster_agent.cli import main

sys.exit(main())
