"""What mkdocs is told beside mkdocs.yml: pages made from the code, results and pictures from elsewhere in the tree."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parents[1]
# Folders whose files pages show or link to, and where they are on the site.
_ELSEWHERE = {"../bench/results/": "results/", "../data/": "data/"}


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages of reference, pictures and results."""
    sys.path.insert(0, str(Path(__file__).parent))
    from reference import pages

    for place, text in pages().items():
        files.append(File.generated(config, place, content=text))
    found = [p for p in (_ROOT / "bench/results").iterdir() if p.suffix in (".json", ".png")]
    for path in [*found, _ROOT / "data/dotplot.png"]:
        folder = "data/" if path.parent.name == "data" else "results/"
        files.append(File.generated(config, folder + path.name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links that are right in the repository become right on the site."""
    for there, here in _ELSEWHERE.items():
        markdown = markdown.replace(f"]({there}", f"]({here}")
    return markdown
