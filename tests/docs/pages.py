"""Parse the pages of docs/: blocks with their language and markers, headings, and links."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NOT_RUN = re.compile(r"<!-- not run: (\S.*) -->")
_FENCE = re.compile(r"^( *)(```+|~~~+) ?(\S*)(.*)$")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        language: language of the fence, or "".
        text: lines, each with a newline.
        line: first line on the page, from 1.
        not_run: reason why it is not run, or "".
    """

    language: str
    text: str
    line: int
    not_run: str


def names() -> list[str]:
    """Return all hand-written pages, as paths in docs/."""
    return sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    found: list[Block] = []
    inside: tuple[str, str, int, str] | None = None
    body: list[str] = []
    reason = ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line)
        if inside and line.strip() == inside[0]:
            found.append(Block(inside[1], "".join(f"{part}\n" for part in body), inside[2], inside[3]))
            inside, body, reason = None, [], ""
        elif inside:
            body.append(line)
        elif fence:
            inside = (fence[2], fence[3], number, reason)
        elif line.strip():
            mark = NOT_RUN.fullmatch(line.strip())
            reason = mark[1] if mark else ""
    assert inside is None, f"a block that does not end: line {inside and inside[2]}"
    return found


def prose(text: str) -> str:
    """Return a page without its blocks."""
    lines, fence = [], ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if fence:
            fence = "" if line.strip() == fence else fence
        elif found:
            fence = found[2]
        else:
            lines.append(line)
    return "\n".join(lines)


def anchors(text: str) -> set[str]:
    """Return the anchors of headings, by the rules of Python-Markdown."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE):
        plain = unicodedata.normalize("NFKD", re.sub(r"[`*]|\]\([^)]*\)", "", heading)).encode("ascii", "ignore")
        slug = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain.decode()).strip().lower())
        while slug in found:
            slug += "_1"
        found.add(slug)
    return found


def links(text: str) -> list[str]:
    """Return the targets of links and images, except for other sites."""
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(text))
    return [target for target in targets if "://" not in target]
