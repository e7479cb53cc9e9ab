"""Objects of a bucket of S3, or of a store that speaks its protocol, by obstore."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from datasets.imports.source import (
    PIECE,
    Restarted,
    SourceFile,
    check_host,
    is_trusted,
    refused,
)
from portal.core.errors import InvalidInput, Unavailable
from portal.core.messages import Message
from portal.core.outbound_proxy import checked_proxy

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")


class S3Source:
    """The objects below a prefix, or the one with that key."""

    def __init__(
        self,
        bucket: str,
        prefix: str,
        *,
        endpoint: str = "",
        region: str = "",
        keys: dict[str, str] | None = None,
    ):
        self._bucket, self._prefix, self._stack = bucket, prefix.strip("/"), ExitStack()
        self._endpoint = endpoint.rstrip("/") or f"https://s3.{region or 'us-east-1'}.amazonaws.com"
        at = urlsplit(self._endpoint)
        self._host, is_plain = at.hostname or "", at.scheme == "http"
        default = 80 if is_plain else 443
        trusts = is_trusted(self._host, at.port or default, default)
        if is_plain and not trusts:
            raise InvalidInput.at("endpoint", Message("must begin with https://"))
        check_host(self._host, at.port or default, default)
        options: Any = {
            "allow_http": is_plain,
            "connect_timeout": timedelta(seconds=10),
            "read_timeout": timedelta(seconds=60),
            "timeout": timedelta(days=2),
        }
        if not trusts:
            options["proxy_url"] = self._stack.enter_context(checked_proxy())
        self._store = _store(bucket, self._endpoint, region, keys, options)

    def files(self) -> Iterator[SourceFile]:
        import obstore

        empty, folders, is_found = [], set[str](), False
        with self._explained(self._prefix or self._bucket):
            for batch in obstore.list(self._store, self._prefix or None):
                for meta in batch:
                    is_found = True
                    folders.update(_parents(meta["path"]))
                    if meta["size"]:
                        yield self._file(meta)
                    else:
                        empty.append(meta)
        if not is_found and self._prefix:
            with self._explained(self._prefix):
                yield self._file(obstore.head(self._store, self._prefix))
        for meta in empty:
            if meta["path"] not in folders:  # an object "a/" marks a folder
                yield self._file(meta)

    def _file(self, meta: Any) -> SourceFile:
        key, above = meta["path"], f"{self._prefix}/" if self._prefix else ""
        path = key.removeprefix(above) if key != self._prefix else key.rpartition("/")[2]
        return SourceFile(path, key, meta["size"], (meta["e_tag"] or "")[:200])

    def read(self, file: SourceFile, start: int) -> Iterator[bytes]:
        import obstore

        options: Any = {"range": {"offset": start}} if start else {}
        if file.mark:
            options["if_match"] = file.mark
        if not file.size:
            return iter(())
        with self._explained(file.where):
            found = obstore.get(self._store, file.where, options=options)
        return self._pieces(found, file)

    def _pieces(self, found: Any, file: SourceFile) -> Iterator[bytes]:
        with self._explained(file.where):
            for piece in found.stream(min_chunk_size=PIECE):
                yield bytes(piece)

    def close(self) -> None:
        self._stack.close()

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        from obstore.exceptions import BaseError, PreconditionError

        try:
            yield
        except PreconditionError:
            raise Restarted from None
        except FileNotFoundError as error:
            raise refused(self._host, 404, what, _code(error)) from None
        except (BaseError, OSError, ValueError) as error:
            status = _STATUS.search(str(error))
            if status:
                raise refused(self._host, int(status[1]), what, _code(error)) from None
            raise Unavailable(Message("{host} could not be read.", host=self._host[:80])) from error


def _store(
    bucket: str, endpoint: str, region: str, keys: dict[str, str] | None, options: Any
) -> Any:
    from obstore.store import S3Store

    config: Any = {"endpoint": endpoint, "region": region or "us-east-1"}
    # Without keys of its own, the store would take those of this machine
    if not keys:
        config["skip_signature"] = True
        return S3Store(bucket, config=config, client_options=options, retry_config=_RETRIES)
    given = {**keys, "expires_at": None}
    return S3Store(
        bucket,
        config=config,
        client_options=options,
        retry_config=_RETRIES,
        credential_provider=lambda: given,  # type: ignore[arg-type]
    )


_RETRIES: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=60)}


def _code(error: Exception) -> str:
    found = _CODE.search(str(error))
    return found[1] if found else ""


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
