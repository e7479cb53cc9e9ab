"""Update the translation catalogs from the sources; `--check` reports what is missing or wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.languages import catalogue, checking, scripts, sources
from portal.languages.catalogue import Message


class Command(BaseCommand):
    help = (
        "Writes locale/*/LC_MESSAGES/django.po and .mo, and static/js/words/*.js, from the sources."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check",
            action="store_true",
            help="write nothing; fail where something is missing or wrong",
        )

    def handle(self, *args: Any, check: bool = False, **options: Any) -> None:
        found = sources.messages(settings.ROOT)
        wrong: list[str] = []
        for language, _ in settings.LANGUAGES:
            if language != "en":
                wrong += _check(language, found) if check else _write(language, found)
        if check and wrong:
            raise CommandError(
                "\n".join(
                    [*wrong, f"{len(wrong)} faults in the catalogues (docs/design/languages.md)"]
                )
            )
        self.stdout.write(
            "\n".join([*wrong, f"{len(found)} messages, {len(wrong)} still to be done"])
        )


def _path(language: str) -> Path:
    return Path(settings.ROOT / "locale" / language / "LC_MESSAGES" / "django.po")


def _known(language: str) -> dict[tuple[str, str], Message]:
    return catalogue.read(_path(language)) if _path(language).exists() else {}


def _check(language: str, found: dict[tuple[str, str], Message]) -> list[str]:
    known = _known(language)
    wrong = list(checking.faults(language, found, known))
    return wrong + [
        f"{language}: {path.name} is not what its catalogue says (make messages)"
        for path, content in _made(language, known)
        if not path.exists() or path.read_bytes() != content
    ]


def _write(language: str, found: dict[tuple[str, str], Message]) -> list[str]:
    """Keep known translations and remove those that are no longer in the sources."""
    known = _known(language)
    kept = {
        key: Message(
            m.id,
            m.plural,
            m.context,
            known[key].said if key in known else "",
            m.files,
            key in known and known[key].is_fuzzy,
        )
        for key, m in found.items()
    }
    _path(language).parent.mkdir(parents=True, exist_ok=True)
    _path(language).write_text(catalogue.written(kept.values()), encoding="utf-8")
    for path, content in _made(language, kept):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return list(checking.faults(language, found, kept))


def _made(language: str, messages: dict[tuple[str, str], Message]) -> list[tuple[Path, bytes]]:
    return [
        (_path(language).with_suffix(".mo"), catalogue.compiled(messages.values())),
        (
            settings.ROOT / "static" / "js" / "words" / f"{language}.js",
            scripts.script(messages.values()),
        ),
    ]
