"""Programs that write at the same time lose nothing, on PostgreSQL."""

from __future__ import annotations

from threading import Thread

import pytest
from django.db import connection, transaction

from experiments import selectors, services
from experiments.models import Experiment, Run
from portal.core.errors import InvalidInput
from tests.experiments.test_services import point
from workspaces.tenancy.scope import org_scope

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.django_db(transaction=True)
def test_concurrent_writes_lose_nothing(story):
    """Threads change the same run and create experiments; every change is there at the end."""
    with org_scope(story.atlas.id):
        actor = story.actor(story.ada)
        run = services.create_run(
            actor=actor, experiment=services.default_experiment(actor=actor, team=story.vision)
        )
    failed: list[BaseException] = []

    def work(n: int) -> None:
        try:
            with org_scope(story.atlas.id):
                services.create_experiment(actor=actor, team=story.vision, name=f"e{n}")
                services.default_experiment(actor=actor, team=story.speech)
                for key in range(5):
                    services.log_batch(
                        actor=actor,
                        run=run,
                        params={f"p{n}.{key}": "1", "same": "1"},
                        tags={f"t{n}.{key}": "1"},
                        metrics=[point("loss", n, n * 5 + key)],
                    )
        except BaseException as error:
            failed.append(error)
        finally:
            connection.close()

    threads = [Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with org_scope(story.atlas.id):
        row = Run.objects.get(id=run.id)
        assert (len(row.params), len(row.tags)) == (21, 20)
        assert len(selectors.metric_history(run, "loss")) == 20
        numbers = Experiment.objects.order_by("number").values_list("number", flat=True)
        assert list(numbers) == [1, 2, 3, 4, 5, 6]
        with transaction.atomic(), pytest.raises(InvalidInput):
            services.log_batch(actor=actor, run=run, params={"same": "2"})
