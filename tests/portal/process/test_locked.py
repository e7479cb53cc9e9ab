"""The server imports no module that only the test requirements install."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.rig.environment import ROOT

# Imported optionally by libraries, and by setuptools at every start.
TRIED = {
    "OpenSSL",
    "blinker",
    "dotenv",
    "greenlet",
    "httptools",
    "jinja2",
    "markupsafe",
    "msgpack",
    "_distutils_hack",
}
LISTED = """
import sys
from importlib.metadata import packages_distributions
import django
django.setup()
from portal.process import parts
parts.preload_web()
parts.preload_tasks()
owners = packages_distributions()
for name in {module.partition(".")[0] for module in sys.modules} & owners.keys():
    print(name, *owners[name])
"""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> set[str]:
    text = (ROOT / "requirements" / "base.lock").read_text()
    return {normal(pin) for pin in re.findall(r"^([A-Za-z0-9_.-]+)==", text, re.MULTILINE)}


def test_modules_loaded_by_server_are_in_its_lock_file(tmp_path):
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{ROOT}:{ROOT}/client:{ROOT}/agent",
        "MUSTER_HOME": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "MUSTER_DATABASE_URL": "postgres://nobody@127.0.0.1:1/nothing",
        "MUSTER_REDIS_URL": "redis://127.0.0.1:1/0",
    }
    done = subprocess.run(
        [sys.executable, "-c", LISTED],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    loaded = {
        words[0]: {normal(word) for word in words[1:]}
        for words in map(str.split, done.stdout.splitlines())
    }
    assert {"django", "celery", "granian", "channels"} <= loaded.keys()
    assert {name for name, owners in loaded.items() if not owners & locked()} - TRIED == set()
