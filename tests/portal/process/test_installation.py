"""A portal that does not belong to its database does not start."""

from __future__ import annotations

import pytest

from portal.process.installation import adopt, check_bucket, check_home, record_key
from portal.process.words import Refusal
from tests.jobs.stage import cluster_with


def test_start_with_another_secret_key_is_refused(db, settings):
    record_key()
    former, settings.SECRET_KEY = (
        settings.SECRET_KEY,
        "another key that is long enough for every check of its strength",
    )
    with pytest.raises(Refusal, match="another secret key"):
        record_key()
    settings.SECRET_KEY_FALLBACKS = [former]
    record_key()
    settings.SECRET_KEY_FALLBACKS = []
    record_key()


def test_start_from_another_home_is_refused_while_a_local_cluster_is_connected(db, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for home in (first, second):
        home.mkdir()
    record_key()
    check_home(first)
    check_home(second)
    cluster_with()
    with pytest.raises(Refusal, match=f"whose home is {first}"):
        check_home(second)
    check_home(first.rename(tmp_path / "moved"))
    adopt(second)
    check_home(second)


def test_start_with_incomplete_settings_of_the_bucket_is_refused(settings):
    check_bucket()
    settings.MUSTER_S3_PUBLIC_URL = "https://s3.example.com"
    with pytest.raises(Refusal, match="MUSTER_S3_PUBLIC_URL needs"):
        check_bucket()
    settings.MUSTER_S3_ACCESS_KEY = "key"
    with pytest.raises(Refusal, match="together"):
        check_bucket()
    settings.MUSTER_S3_SECRET_KEY = "secret"
    check_bucket()
