"""What a template says outside of its translate tags: there must be nothing (tests/test_languages.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.template.base import Lexer, TokenType

# Names and units, the same in every language, and addresses; what stands in code, keys and drawings is no text.
NAMES = re.compile(
    r"\b(Muster|GPUs?|CPUs?|API|LDAP|SAML|OIDC|SCIM|SSO|Ctrl|Enter|YAML|JSON|CSV|Slurm|Kubernetes|UTC|Id|URL|DN|IP|PEM|GiB|TLS)\b|/[\w./-]+"
)
_CODE = re.compile(r"<(pre|code|kbd|svg|script|style)\b[^>]*>.*?</\1>", re.DOTALL)
_SAID = re.compile(
    r"""\b(title|placeholder|alt|aria-label|data-label|data-confirm|data-prompt)=("[^"]*"|'[^']*')"""
)
_TAG = re.compile(r"""<(?:[^>"']|"[^"]*"|'[^']*')*>""")
_WORD = re.compile(r"[A-Za-z]{2,}|\b[A-Z]\b")
_EXAMPLE = re.compile(
    r'"\S+"\Z|"[^"]*[=:/@.\d][^"]*"\Z'
)  # "nightly", "10.20.0.0/16, 2001:db8::/32": what one would type
_NO_TEXT = re.compile(r"blocktrans(?:late)?\b|comment\b")
MARK = "\x00"  # stands for a tag or a variable


def untranslated(text: str) -> Iterator[str]:
    """Each piece of plain text, as it stands."""
    bare = _CODE.sub(MARK, "".join(_outside(text)))
    attributes = [
        m[2] for m in _SAID.finditer(bare) if m[1] != "placeholder" or not _EXAMPLE.match(m[2])
    ]
    for piece in [
        *attributes,
        *re.split(MARK, _TAG.sub(MARK, bare).replace("&nbsp;", " ").replace("&amp;", "&")),
    ]:
        if _WORD.search(NAMES.sub("", piece.replace(MARK, " "))):
            yield " ".join(piece.replace(MARK, "…").split())


def _outside(text: str) -> Iterator[str]:
    """The template without its tags, and without what translate tags enclose."""
    inside = False
    for token in Lexer(text).tokenize():
        if token.token_type == TokenType.BLOCK and _NO_TEXT.match(token.contents):
            inside = True
        elif token.token_type == TokenType.BLOCK and inside and token.contents.startswith("end"):
            inside = False
            yield MARK
        elif not inside:
            yield token.contents if token.token_type == TokenType.TEXT else MARK
