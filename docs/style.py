"""Style check of documentation, help and messages: words of the glossary, and phrases that read as translated.

Prints each finding as FILE:LINE: FINDING (what to write instead), and then exits with 1. `make lint` runs it.
CONTRIBUTING.md has the glossary.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Pages made from result files, whose notes are as they were measured.
MAX_WORDS = 50  # of a sentence

# What must not be in prose, and what to write instead.
PHRASES = {
    r"\bcards?\b": "GPU",
    r"\bletters?\b": "base, residue, symbol or character",
    r"\bway back\b|\bwalk(s|ed)? back\b": "traceback",
    r"\bbands and drops\b": "heuristics",
    r"\bso many\b": "a number with a name",
    r"\bnobody\b|\banybody('s)?\b": "a subject: user, program, mapper",
    r"\bhad best\b": "should",
    r"\bsooner\b": "faster, or earlier",
    r"\bunless (given|told otherwise|said otherwise)\b": "the default is",
    r"\(usual\)|\bis usual\b|\bthe usual\b": "default",
    r"\b(a|by the) second\b(?= in| of| each|,? (in )?(millions|thousands)|\))|\bby the second\b": "per second",
    r"\b(millions|thousands) of millions\b": "10^12, 10^9",
    r"\bgo(es)? with (the )?(square|length|cost|distance)\b": "grows with",
    r"\bin the mean\b": "on average, mean",
    r"\b(one|file|they) behind the other\b|\bfollow behind\b": "one after the other",
    r"\bma(de|kes?) (it |them |all )?anew\b": "recomputed",
    r"\b(leave|take)s? \S+ away\b": "omit",
    r"\bgoes on (from|with|along|until)\b": "continues",
    r"\bin one go\b": "in one run",
    r"\bside by side\b": "in parallel",
    r"\ba byte a base\b|\bpairs? a (group|lane|second)\b": "per",
    r"\bpromises?\b": "guarantee, expected time",
    r"\bwhatever it (has|is)\b": "for any",
    r"\bhas it that\b|\bas \w+ has it\b": "as X does",
    r"\bis of no use\b|\bhas no use for\b": "is not used, does not support",
    r"\bwhere (there is|there are) (one|none|some|any)\b": "if there is one",
    r"\bwhere that is (not )?so\b": "if so, otherwise",
    r"\bare alike\b|\bis (less |more )?(un)?alike\b|\balike\b": "similar",
    r"\b(un)?like nothing there\b": "dissimilar",
    r"\bas often\b": "with equal frequency",
    r"\bthe least\b(?! (one|significant))": "the minimum",
    r"\bthe one ahead\b|\bthat is ahead, looked\b": "the diagonal that is ahead",
    r"\bturned (round|over)\b": "reverse complement",
    r"\brungs?\b": "retry, fallback, kernel",
    r"\bwho\b(?! (trust|can|may|knows?|use|set|expect|has|have))": "that (for things)",
    r"(?<=\. )Of (an?|the|one|all|each|two|several) [^.]{0,40}\. ": "a sentence with a subject and a verb",
}
_FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
_BLOCKS = re.compile(r"<!--.*?-->", re.S)
_MESSAGES = {"error", "warning", "note", "tell", "warn", "say"}


def lines_of_page(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of the prose of a page, without code, comments and link targets."""

    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    text = _BLOCKS.sub(blank, _FENCE.sub(blank, text))
    for number, line in enumerate(text.splitlines(), 1):
        yield number, re.sub(r"`[^`]*`|\]\([^)]*\)|https?://\S+", "`x`", line)


def messages(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of the messages of a module: of errors that it raises, warnings and notes."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in _MESSAGES or name.endswith("Error"):
            parts = [part for argument in node.args for part in ast.walk(argument) if isinstance(part, ast.Constant)]
            text = " ".join(part.value for part in parts if isinstance(part.value, str))
            yield node.lineno, text


def findings(text: str) -> Iterator[tuple[str, str]]:
    """Yield (what was found, what to write instead) in one line."""
    for pattern, instead in PHRASES.items():
        if found := re.search(pattern, text, re.IGNORECASE):
            yield found[0].strip(), instead


def long_sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (line, words, beginning) of the sentences of a page that are too long; tables and lists are left out."""
    paragraph, begin = "", 0
    for number, line in [*lines_of_page(text), (0, "")]:
        if line.strip() and not line.startswith(("|", "#", "!", "- ", "  ")):
            begin = begin if paragraph else number
            paragraph += line + " "
            continue
        for sentence in re.split(r"(?<=[.!?:;])\s+", paragraph):
            if (words := len(sentence.split())) > MAX_WORDS:
                yield begin, words, sentence[:50]
        paragraph = ""


def pages() -> dict[str, str]:
    """Return the pages that are checked, by their paths in the repository."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    return {str(p.relative_to(ROOT)): p.read_text() for p in [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *found]}


def helps() -> dict[str, str]:
    """Return the help of all commands, by their names."""
    from wfacli.cli.app import COMMANDS, loaded
    from wfacli.cli.help_page import full_help, page_of

    return {f"wfacli {name} --help-all": full_help(page_of(loaded(name))) for name in COMMANDS}


def check() -> Iterator[str]:
    """Yield a line for each finding."""
    for name, text in pages().items():
        for number, line in lines_of_page(text):
            yield from (f"{name}:{number}: {what} ({instead})" for what, instead in findings(line))
        for number, words, start in long_sentences(text):
            yield f"{name}:{number}: a sentence of {words} words: {start}..."
    for name, text in helps().items():
        flat = re.sub(r"\n\s+", " ", text)
        for number, line in enumerate(flat.splitlines(), 1):
            yield from (f"{name}:{number}: {what} ({instead})" for what, instead in findings(line))
    for path in sorted((ROOT / "wfacli").rglob("*.py")):
        for number, text in messages(path.read_text()):
            place = path.relative_to(ROOT)
            yield from (f"{place}:{number}: {what} ({instead})" for what, instead in findings(text))


if __name__ == "__main__":
    found = list(check())
    sys.stdout.write("".join(f"{line}\n" for line in found))
    sys.exit(bool(found))
