"""Pages, help and messages follow the glossary (docs/style.py), and the check sees what it must."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .pages import DOCS, ROOT

sys.path.insert(0, str(DOCS))
import style

# Sentences that were once in the pages, the help or the messages, and what the check says.
TRANSLATED = [
    ("It takes a card where it is faster", "GPU"),
    ("Letters of a batch", "base, residue, symbol or character"),
    ("What the way back may keep besides is --max-memory", "traceback"),
    ("Of bands and drops a GPU has only the scores", "heuristics"),
    ("At once, so many pairs", "a number with a name"),
    ("PAF or SAM, anybody's", "a subject: user, program, mapper"),
    ("One that has the pair sooner", "faster, or earlier"),
    ("2,4,4,2 unless given", "the default is"),
    ("Exact is usual, and heuristics are slower", "default"),
    ("Cells of the matrix by the second", "per second"),
    ("Cells in millions of millions", "10^12, 10^9"),
    ("The time goes with the square of the distance", "grows with"),
    ("Gaps of five bases in the mean", "on average, mean"),
    ("Files are mapped one file behind the other", "one after the other"),
    ("RNEXT and TLEN are made anew", "recomputed"),
    ("With --resume the same line goes on from there", "continues"),
    ("It draws the picture in one go", "in one run"),
    ("The CPU makes the pieces side by side", "in parallel"),
    ("The reference takes a byte a base", "per"),
    ("What a command promises", "guarantee, expected time"),
    ("A GPU where there is one", "if there is one"),
    ("Pairs of which only parts are alike", "similar"),
    ("Either strand as often", "with equal frequency"),
    ("The kernel who needs it", "that (for things)"),
    ("It is long. Of a block. It ends", "a sentence with a subject and a verb"),
]


def test_nothing_is_found() -> None:
    found = list(style.check())
    assert not found, "\n".join(found)


def test_lint_runs_the_check() -> None:
    assert "docs/style.py" in (ROOT / "Makefile").read_text()
    done = subprocess.run([sys.executable, DOCS / "style.py"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_everything_is_looked_at() -> None:
    assert {"README.md", "docs/semantics.md", "docs/how-to/map.md"} < style.pages().keys()
    assert {"docs/benchmarks.md", "docs/papers.md"} < style.pages().keys()
    assert "wfacli extend --help-all" in style.helps()
    said = dict(style.messages('raise UsageError(f"--pad is {n}; a card")\nwarning("so many")\nx = "letter"'))
    assert said == {1: "--pad is  ; a card", 2: "so many"}


@pytest.mark.parametrize(("sentence", "instead"), TRANSLATED)
def test_phrases_are_seen(sentence: str, instead: str) -> None:
    assert instead in [what for _, what in style.findings(sentence)]


@pytest.mark.parametrize(
    "sentence",
    ["Users who trust it", "a second best place", "the least significant bit", "at least one", "discard it"],
)
def test_good_sentences_are_not(sentence: str) -> None:
    assert not list(style.findings(sentence))


def test_code_and_long_sentences() -> None:
    page = "A `card` is code.\n\n```sh\ncard\n```\n\nText of a card.\n" + "word " * 61 + "\n"
    assert [number for number, line in style.lines_of_page(page) if list(style.findings(line))] == [7]
    assert [found[:2] for found in style.long_sentences("Short.\n\n" + "word " * 61 + "end.\n")] == [(3, 62)]
