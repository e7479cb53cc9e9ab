"""`python -m tests.storm --submits 2000 --seeds 1,2,3`: the full storms.

The exit status is 1 when anything was lost, ran twice or did not settle in time.
"""

from __future__ import annotations

import argparse
import sys

from tests.rig.processes import Folder
from tests.storm.storm import Storm


def main() -> int:
    parser = argparse.ArgumentParser(prog="make storm", description=__doc__)
    parser.add_argument("--submits", type=int, default=2000)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--pace", type=float, default=3.0, help="mean seconds between kills")
    parser.add_argument("--keep", action="store_true", help="leave the folder with all logs behind")
    parser.add_argument(
        "--timeline", action="store_true", help="print each second: queued, running, done, kills"
    )
    options = parser.parse_args()
    outcomes = []
    for seed in map(int, options.seeds.split(",")):
        folder = Folder()
        try:
            outcomes.append(
                Storm(folder, seed=seed, submits=options.submits, pace=options.pace).run()
            )
            print(
                *([outcomes[-1].timeline] if options.timeline else []),
                outcomes[-1].text(),
                sep="\n",
                flush=True,
            )
        finally:
            if options.keep:
                print(f"logs: {folder.path}")
            folder.close(keep=options.keep)
    return int(any(outcome.faults for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
