"""The rig itself: what it starts answers, and nothing outlives who started it."""

from __future__ import annotations

import os
import subprocess
import sys

import psycopg
import pytest

from tests.rig.environment import MODES, ROOT
from tests.rig.order import LONGEST, place
from tests.rig.postgres import create_database
from tests.rig.processes import Folder, RigFailure, is_listening, program
from tests.rig.redis import start_redis
from tests.rig.seeds import shared_out


def test_postgres_answers_and_gives_further_databases(postgres_url):
    url, other = (create_database(postgres_url, "rig_further") for _ in range(2))
    assert url != other             # what runs beside has the same server
    with psycopg.connect(url) as connection:
        assert str(connection.info.dbname).startswith("rig_further_")


def test_closing_the_folder_ends_its_processes_and_removes_it():
    folder = Folder()
    redis = start_redis(folder)
    assert is_listening(redis.port)
    folder.close()
    assert not is_listening(redis.port)
    assert not folder.path.exists()


def test_a_process_of_the_rig_dies_when_its_starter_is_killed(wait_for, tmp_path):
    code = (
        "import os, signal; from tests.rig.processes import Folder; from tests.rig.redis import start_redis\n"
        "print(start_redis(Folder()).port, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    port = int(done.stdout)
    assert wait_for(lambda: not is_listening(port))


def test_a_missing_program_is_a_failure_that_names_it():
    with pytest.raises(RigFailure, match="no-such-program is not installed"):
        program("no-such-program")


@pytest.mark.parametrize("count", [1, 2, 3, 14])
def test_both_modes_together_run_each_course_of_chance_once(count):
    both = [seed for mode in MODES for seed in shared_out(range(count), mode, wants_all=False)]
    assert sorted(both) == list(range(count))
    assert list(shared_out(range(count), "server", wants_all=True)) == list(range(count))


def test_the_long_files_that_begin_first_are_there_and_all_others_come_behind():
    assert [name for name in LONGEST if not (ROOT / "tests" / name).is_file()] == []
    first, second = (ROOT / "tests" / name for name in LONGEST[:2])
    assert sorted([ROOT / "tests/test_asvs.py", second, first], key=place)[:2] == [first, second]
