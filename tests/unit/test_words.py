"""Words that the glossary of CONTRIBUTING.md replaces are in no code, comment, help text or page."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUFFIXES = {".py", ".pyi", ".cpp", ".hpp", ".cu", ".cuh", ".h", ".c", ".rs", ".sh", ".md", ".toml", ".txt"}
# History, the glossary itself, results as measured, and inputs and outputs of the command.
LEFT_OUT = re.compile(
    r"^(CHANGELOG\.md|CONTRIBUTING\.md|bench/results/.*|tests/cli/golden/.*|tests/input_fuzz/found/.*|tests/unit/test_words\.py|docs/style\.py|tests/docs/test_style\.py)$"
)
WORDS = {
    "GPU": r"\bcards?\b|\bcard_|_cards?\b",
    "base, residue, symbol or character": r"letter",
    "a noun that is meant": r"\bnobody\b|\bhad best\b|\bin nobody's turn\b",
    "a number with a name": r"\bso many\b",
    "which or that, for things": r"\bwho\b",
    "a sentence with a subject": r'^\s*("""|//|#) ?(?-i:Of (a|an|the|one|all|each)|Whether of)\b',
}
# Names of reads in golden files; alphabetic characters of SAM tags; people.
ALLOWED = re.compile(
    r"one_letter|is_letter|^// letter is its case|[0-9,]+ letters$|"
    r"users who|to the caller, who|nobody: a mapping's|\"nobody\""
)


def files() -> list[str]:
    """Return the tracked text files that are searched."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("needs a git checkout, which lists the files")
    names = listed.stdout.splitlines()
    return [n for n in names if Path(n).suffix in SUFFIXES and not LEFT_OUT.match(n) and (ROOT / n).is_file()]


def found_in(name: str, pattern: re.Pattern[str]) -> list[str]:
    """Return the lines of a file that match, without what is allowed."""
    lines = enumerate((ROOT / name).read_text(errors="replace").splitlines(), 1)
    return [f"{name}:{number}: {line.strip()}" for number, line in lines if pattern.search(ALLOWED.sub("", line))]


@pytest.mark.parametrize("instead", WORDS)
def test_words_of_the_glossary_are_used(instead: str) -> None:
    searched = files()
    assert len(searched) > 500
    pattern = re.compile(WORDS[instead], re.IGNORECASE)
    found = [line for name in searched for line in found_in(name, pattern)]
    assert not found, f"write {instead}:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("# Memory of the card", "GPU"),
        ("letters = 3", "base, residue, symbol or character"),
        ("# so many pairs", "a number with a name"),
        ('    """Of a block."""', "a sentence with a subject"),
        ("# the kernel who needs it", "which or that, for things"),
    ],
)
def test_a_word_is_seen(line: str, instead: str) -> None:
    assert re.search(WORDS[instead], ALLOWED.sub("", line), re.IGNORECASE)
