"""Write the index of the guide that the command palette searches.

    python -m scripts.guide_index SITE       after `zensical build`, with its packages

Sections come from the search index of the site, titles and keywords from the front matter.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

import yaml

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "guide"
LANGUAGES = ("en", "ko", "ja")


def main(site: Path) -> None:
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
