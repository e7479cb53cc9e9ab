"""Test which responses are compressed."""

from __future__ import annotations

import gzip


def test_pages_and_json_are_compressed_and_streams_are_not(story) -> None:
    client = story.client(story.ada)
    accept = {"HTTP_ACCEPT_ENCODING": "gzip"}
    for path, text in (("/atlas/jobs", b"</html>"), ("/api/v1/orgs/atlas/roles", b"{")):
        packed = client.get(path, **accept)
        # A short answer can be longer when it is packed, and is then sent as it is
        assert len(client.get(path).content) > 1000
        assert packed.headers["Content-Encoding"] == "gzip", path
        assert "Accept-Encoding" in packed.headers["Vary"]
        assert text in gzip.decompress(packed.content)
        assert int(packed.headers["Content-Length"]) == len(packed.content)
        assert not client.get(path).has_header("Content-Encoding")
    stream = client.get("/atlas/jobs?format=csv", **accept)
    assert stream.streaming
    assert not stream.has_header("Content-Encoding")
