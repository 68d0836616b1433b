"""The pages of docs/ taken apart: blocks with their language, what they are marked with, headings, links."""

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
    """A block of a page.

    Attributes:
        language: behind its fence; "" where none stands there.
        text: its lines, with a line feed behind each.
        line: where it begins on the page, from 1.
        not_run: why it is not run, "" where it is.
    """

    language: str
    text: str
    line: int
    not_run: str


def names() -> list[str]:
    """All pages that somebody wrote, by their places in docs/."""
    return sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
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
    """A page without its blocks."""
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
    """What headings can be linked as, by the rules of Python-Markdown."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE):
        plain = unicodedata.normalize("NFKD", re.sub(r"[`*]|\]\([^)]*\)", "", heading)).encode("ascii", "ignore")
        slug = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain.decode()).strip().lower())
        while slug in found:
            slug += "_1"
        found.add(slug)
    return found


def links(text: str) -> list[str]:
    """What a page links to and shows, but for other sites."""
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(text))
    return [target for target in targets if "://" not in target]
