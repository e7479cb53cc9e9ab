"""Finish the site of the guide.

    python -m scripts.guide_site SITE       after `zensical build`, with its packages

It writes the index that the command palette searches: sections come from the search index of the
site, titles and keywords from the front matter. And it changes one line of the theme's script.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import yaml

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "guide"
LANGUAGES = ("en", "ko", "ja")


# The theme's search adds its styles as <style> to a shadow root, which the portal's policy refuses
# (`style-src 'self'`). A constructed style sheet is allowed.
STYLE = re.compile(r'(\w+)\.appendChild\(\w+\("style",\{\},(\w+)\.toString\(\)\)\)')
SHEET = (
    r"\1.adoptedStyleSheets=[(()=>{const sheet=new CSSStyleSheet;"
    r"sheet.replaceSync(\2.toString());return sheet})()]"
)


def main(site: Path) -> None:
    _write_index(site)
    [script] = (site / "assets" / "javascripts").glob("bundle.*.min.js")
    text, changes = STYLE.subn(SHEET, script.read_text())
    if changes != 1:
        raise SystemExit(f"{script.name} has {changes} places that add a <style>, not one")
    script.write_text(text)


def _write_index(site: Path) -> None:
    sections: dict[str, list[tuple[str, str]]] = defaultdict(list)
    order: dict[str, None] = {}
    for item in json.loads((site / "search.json").read_text())["items"]:
        page, _, anchor = item["location"].partition("#")
        name = page.strip("/") or "index"
        order[name] = None
        if anchor and item["level"] > 1:
            sections[name].append((anchor, item["title"]))
    rows = []
    for name in order:
        _, front, _ = (GUIDE / f"{name}.md").read_text().split("---\n", 2)
        given = yaml.safe_load(front)
        titles = {code: given["title" if code == "en" else f"title_{code}"] for code in LANGUAGES}
        words = [word.strip() for word in given.get("keywords", "").split(",") if word.strip()]
        rows.append({"name": name, "titles": titles, "keywords": words, "sections": sections[name]})
    (site / "topics.json").write_text(json.dumps(rows, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
