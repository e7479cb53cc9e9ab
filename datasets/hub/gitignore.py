"""Say which files a .gitignore excludes, as gitignore(5) defines it.

pathspec does this by regular expressions that backtrack: a pattern of a user, such as *a*a*a*b, takes
exponential time. Here each pattern costs at most its length times the length of a name, and
all together at most MOST_STEPS.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from portal.core.errors import InvalidInput
from portal.core.messages import Message

MOST_STEPS = 1_000_000  # comparisons of a character
_TOKEN = re.compile(
    r"\\(.)|(\*+)|(\?)|\[([!^]?)(\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]|(.)", re.DOTALL
)
_CLASSES = {
    "alpha": str.isalpha,
    "digit": str.isdigit,
    "alnum": str.isalnum,
    "lower": str.islower,
    "upper": str.isupper,
    "space": str.isspace,
}
_MEMBER = re.compile(r"\[:([a-z]+):\]|(\\.|.)(?:-(\\.|.))?", re.DOTALL)


class Members(NamedTuple):
    """A bracket expression such as [a-z]."""

    text: str
    is_negated: bool

    def has(self, char: str) -> bool:
        """Return whether it matches a character."""
        found = False
        for name, first, last in _MEMBER.findall(self.text):
            if name:
                found = found or (name in _CLASSES and _CLASSES[name](char))
            else:
                found = found or first[-1] <= char <= (last or first)[-1]
        return found != self.is_negated


Token = str | Members | None  # a character, a bracket expression, or None for any one
STAR = ""  # any number of characters


class Pattern(NamedTuple):
    """A line of the file: the names of a path, "**" for any number of them."""

    names: list[list[Token] | str]
    is_anchored: bool
    is_folder: bool
    is_negated: bool


class GitIgnore:
    """The patterns of a file."""

    def __init__(self, text: str):
        self.patterns = [p for line in text.splitlines() if (p := _pattern(line))]
        self._folders: dict[tuple[str, ...], bool] = {}
        self._steps = 0

    def excludes(self, path: str) -> bool:
        """Return whether a file is excluded, by itself or with a folder. Raises InvalidInput."""
        names = tuple(path.split("/"))
        for end in range(1, len(names)):
            folder = names[:end]
            if folder not in self._folders:
                self._folders[folder] = self._is_matched(folder, is_folder=True)
            if self._folders[folder]:
                return True
        return self._is_matched(names, is_folder=False)

    def _is_matched(self, names: tuple[str, ...], *, is_folder: bool) -> bool:
        for pattern in reversed(self.patterns):
            if pattern.is_folder and not is_folder:
                continue
            of_path = names if pattern.is_anchored else names[-1:]
            if self._fits(pattern.names, of_path):
                return not pattern.is_negated
        return False

    def _fits(self, pattern: list[list[Token] | str], names: tuple[str, ...]) -> bool:
        """Compare names from the left; after "**", try again one name later."""
        at, part, again, star = 0, 0, 0, -1
        while at < len(names):
            if part < len(pattern) and pattern[part] == "**":
                if part == len(pattern) - 1:
                    return True
                star, again, part = part, at, part + 1
            elif part < len(pattern) and self._name_fits(pattern[part], names[at]):
                at, part = at + 1, part + 1
            elif star >= 0:
                again += 1
                at, part = again, star + 1
            else:
                return False
        return part == len(pattern)

    def _name_fits(self, tokens: list[Token] | str, name: str) -> bool:
        if isinstance(tokens, str):
            self._count(1)
            return tokens == name
        at, part, again, star, steps = 0, 0, 0, -1, 0
        while at < len(name):
            steps += 1
            token = tokens[part] if part < len(tokens) else False
            if token == STAR:
                star, again, part = part, at, part + 1
            elif token is None or (
                token.has(name[at]) if isinstance(token, Members) else token == name[at]
            ):
                at, part = at + 1, part + 1
            elif star >= 0:
                again += 1
                at, part = again, star + 1
            else:
                break
        self._count(steps)
        return at == len(name) and all(token == STAR for token in tokens[part:])

    def _count(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise InvalidInput.at(
                "gitIgnore", Message("has too many patterns for so many files; ask for fewer")
            )


def _pattern(line: str) -> Pattern | None:
    text = re.sub(r"(?<!\\) +\Z", "", line.rstrip("\r"))
    if not text or text.startswith("#"):
        return None
    is_negated = text.startswith("!")
    text = text[is_negated:]
    is_folder = text.endswith("/")
    text = text.removesuffix("/")
    is_anchored = "/" in text
    names = text.removeprefix("/").split("/")
    if not text or (text == "/" and not is_anchored):
        return None
    tokens = [_tokens(name, is_path=is_anchored) for name in names]
    return Pattern(tokens, is_anchored, is_folder, is_negated)


def _tokens(name: str, *, is_path: bool) -> list[Token] | str:
    if name == "**" and is_path:
        return name
    tokens: list[Token] = []
    for escaped, stars, any_one, negation, members, char in _TOKEN.findall(name):
        if stars:
            tokens.append(STAR)
        elif any_one:
            tokens.append(None)
        elif members:
            tokens.append(Members(members, bool(negation)))
        else:
            tokens.append(escaped or char)
    is_plain = all(isinstance(token, str) and token for token in tokens)
    return "".join(map(str, tokens)) if is_plain and "**" not in name else tokens
