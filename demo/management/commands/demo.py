"""Fill this installation with a simulated organization."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from demo import (
    datasets,
    experiments,
    history,
    notifications,
    pools,
    registry,
    telemetry,
    usage,
)
from demo.pace import Progress
from jobs.utilization.recording import record_utilization
from portal.core import clock
from portal.core.errors import Conflict
from workspaces.models import Organization


class Command(BaseCommand):
    help = (
        "Create the organization Aurora Labs with teams, a simulated GPU cluster and a week of "
        "jobs with logs and curves. Its running jobs go on while the portal runs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--jobs", type=int, default=300, help="number of jobs (default: 300)")
        parser.add_argument(
            "--nodes",
            type=int,
            default=10,
            help="number of nodes with 8 H100 (default: 10); 2000 shows a large fleet",
        )
        parser.add_argument("--seed", type=int, default=1, help="seed of the simulation")

    def handle(self, *args: Any, **options: Any) -> None:
        progress = Progress()
        try:
            demo = history.create(
                options["jobs"],
                seed=options["seed"],
                nodes=(options["nodes"], 8),
                plans=(
                    lambda org: datasets.plan(org, options["seed"]),
                    lambda org: experiments.plan(org, options["seed"]),
                    registry.plan,
                ),
                progress=progress,
            )
        except Conflict as error:
            raise CommandError(error.message) from error
        except OperationalError as error:
            raise CommandError(f"Start the portal first, e.g. with `make run`: {error}") from error
        progress.step("Writing the measurements of GPUs and jobs …")
        telemetry.write_history(progress)
        record_utilization(since=clock.now() - timedelta(days=history.DAYS))
        progress.step("Writing the ledger and the usage …")
        usage.create(demo.org)
        pools.create(demo.org)
        notifications.write(Organization.objects.get(slug=demo.org.slug))
        address = f"{settings.MUSTER_BASE_URL}/{demo.org.slug}/"
        progress.end(f"Done. Open {address} and sign in as {demo.email} with {demo.password}")
