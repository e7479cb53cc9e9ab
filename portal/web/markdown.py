"""Render Markdown that people write, such as model cards.

markdown-it-py with HTML and images off: what remains are elements without attributes, and links
whose addresses it has checked.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from markdown_it import MarkdownIt

LONGEST = 100_000  # characters that are rendered
_FRONT_MATTER = re.compile(r"\A---\r?\n.*?\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)


def markdown_html(text: str) -> str:
    """Return safe HTML. YAML before the text, as on the Hugging Face Hub, is left out.

    Headings begin at h3, below those of the page.
    """
    return str(_parser().render(without_front_matter(text)[:LONGEST]))


def without_front_matter(text: str) -> str:
    """Return a text without the YAML at its start."""
    return _FRONT_MATTER.sub("", text)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"]).disable(["image", "html_block", "html_inline"])
    parser.core.ruler.push("headings", _lower_headings)
    parser.add_render_rule("link_open", _render_link)
    return parser


def _lower_headings(state: Any) -> None:
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"


def _render_link(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    tokens[index].attrSet("rel", "nofollow noopener noreferrer")
    return str(renderer.renderToken(tokens, index, options, env))
