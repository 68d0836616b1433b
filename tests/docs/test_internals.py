"""Files and identifiers that the internal documentation names exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from .pages import ROOT

PAGES = [*sorted((ROOT / "docs" / "internals").glob("*.md")), ROOT / "ARCHITECTURE.md"]
SOURCES = (".py", ".pyi", ".hpp", ".cpp", ".cuh", ".cu", ".toml", ".txt", ".md", ".json")


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    return subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


@pytest.fixture(scope="module")
def words(tracked: list[str]) -> set[str]:
    code = (path for path in tracked if path.endswith(SOURCES) and not path.startswith(("docs/", "bench/results/")))
    return {word for path in code for word in re.findall(r"[A-Za-z_]\w+", (ROOT / path).read_text(errors="replace"))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_named_exists(page: Path, tracked: list[str], words: set[str]) -> None:
    quoted = " ".join(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)))
    paths = re.findall(r"[\w./]+/[\w.]+\.(?:py|hpp|cpp|cuh|cu)\b", quoted)
    assert [path for path in paths if not any(name.endswith(path) for name in tracked)] == []
    without_paths = re.sub(r"[\w./*-]+/[\w./*-]+|\b_?\w+\.(?:py|hpp|cpp|cuh|cu|md|json)\b|--?[a-z-]+", " ", quoted)
    assert [word for word in re.findall(r"[A-Za-z_]\w{3,}", without_paths) if word not in words] == []
