"""The context of the page of one job."""

from __future__ import annotations

from datetime import timedelta

from jobs.models import Attempt
from jobs.web import job_page
from portal.core import clock
from schedulers.states import State
from workspaces.templatetags import muster


def test_code_escapes_before_it_renders_backticks() -> None:
    text = muster.code("Raise `resources.<b>`, or <i> `more`")
    assert text == ("Raise <code>resources.&lt;b&gt;</code>, or &lt;i&gt; <code>more</code>")


def test_metric_is_short_in_every_magnitude() -> None:
    shown = [muster.metric(v) for v in (0, 0.42137, 1704.5, 0.0002999, 3e-4, float("nan"))]
    assert shown == ["0", "0.4214", "1,704", "2.999e-4", "3e-4", "–"]


def test_timeline_has_three_steps_and_the_end() -> None:
    now = clock.now()
    attempt = Attempt(state=State.QUEUED, ordinal=2, queued_at=now)
    assert [p.label for p in job_page.phases(attempt, now, attempt.started_at)] == [
        "Queued",
        "Starting",
        "Running",
    ]
    attempt.state, attempt.started_at = State.FAILED, now + timedelta(seconds=4)
    attempt.finished_at = now + timedelta(seconds=64)
    steps = job_page.phases(attempt, now, attempt.started_at)
    assert [(p.label, p.seconds) for p in steps] == [
        ("Queued", 4),
        ("Starting", 0),
        ("Running", 60),
        ("Failed", None),
    ]


def test_timeline_of_a_job_canceled_in_the_queue_never_started() -> None:
    now = clock.now()
    attempt = Attempt(state=State.CANCELED, ordinal=2, queued_at=now, finished_at=now)
    assert [p.label for p in job_page.phases(attempt, now, attempt.started_at)] == [
        "Queued",
        "Canceled",
    ]
