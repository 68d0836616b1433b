"""The page of --report in a real browser, and the files of --multiqc in MultiQC itself, where these are installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.browser import chromium, opened
from tests.mapped.world import random_world

from .support import assert_success, run

MULTIQC = os.environ.get("WFACLI_MULTIQC") or shutil.which("multiqc")
# The names of a reference and of its file are longer than a narrow window, and have no place where they can be broken.
LONG = "chromosome_" + 12 * "unplaced_scaffold_"
_ALL = "[...document.querySelectorAll"
_INSIDE = "one => one.getBoundingClientRect().left >= 0 && one.getBoundingClientRect().right <= innerWidth"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with reports of mapped reads and of pairs."""
    folder = tmp_path_factory.mktemp("reports")
    world = random_world(5, 60)
    world.write(folder)
    for name in ("ref.fa", "map.paf"):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace("chr1", LONG))
    (folder / "ref.fa").rename(folder / f"{LONG[:200]}.fa")
    mapped = ("align", "reads.fq", f"{LONG[:200]}.fa", "--mappings", "map.paf", "--match", "2", "-q", "-o", "o.sam")
    assert_success(run(*mapped, "--report", "mapped.html", "--multiqc", "one", cwd=folder))
    assert_success(run(*mapped, "--keep-unmapped", "--multiqc", "two", cwd=folder))
    pairs = ("align", "reads.fq", "reads.fq", "-q", "-o", "o.paf")
    assert_success(run(*pairs, "--report", "pairs.html", "--multiqc", "three", cwd=folder))
    assert_success(run(*pairs[:-2], "--score-only", "-o", "o.tsv", "--report", "scores.html", cwd=folder))
    return folder


@pytest.mark.skipif(not chromium(), reason="needs Chromium")
def test_pages_fit_their_window_in_both_themes(folder: Path, tmp_path: Path) -> None:
    program = chromium()
    assert program
    with opened(program, tmp_path) as browser:
        papers = set()
        for name in ("mapped", "pairs", "scores"):
            for width in (400, 1200):
                for scheme in ("light", "dark"):
                    browser.show(folder / f"{name}.html", width, scheme)
                    browser.value("document.querySelectorAll('details').forEach(one => one.open = true)")
                    assert browser.value("document.documentElement.scrollWidth") <= width, (name, width)
                    assert browser.value("document.querySelectorAll('svg').length") > 0
                    assert browser.value(f"{_ALL}('svg')].every(one => one.clientHeight > 50)"), "a picture is empty"
                    assert browser.value(f"{_ALL}('.x span, .y span')].every({_INSIDE})"), "a label is cut off"
                    papers.add((scheme, browser.value("getComputedStyle(document.body).backgroundColor")))
        assert len(papers) == len({paper for _, paper in papers}) == 2
        assert browser.complaints() == []


@pytest.mark.skipif(not MULTIQC, reason="needs MultiQC")
def test_multiqc_shows_all_sections_of_all_samples(folder: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(MULTIQC), "--no-ansi", "--strict", "--outdir", tmp_path, folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert "rror" not in done.stdout + done.stderr
    data = tmp_path / "multiqc_data"
    for name in ("outcome", "bases", "identity", "lengths", "insertions", "deletions", "depth", "quality"):
        lines = (data / f"multiqc_wfacli_reads_{name}_plot.txt").read_text().splitlines()
        samples = [line.split("\t")[0] for line in lines]
        assert [sample for sample in samples if sample != "Sample"] == ["one", "two"], name
    assert "three" in (data / "multiqc_wfacli_pairs_identity_plot.txt").read_text()
    table = (data / "multiqc_general_stats.txt").read_text().splitlines()
    assert {line.split("\t")[0] for line in table[1:]} == {"one", "two", "three"}
    assert len(table[0].split("\t")) == 1 + 5 + 4
    page = (tmp_path / "multiqc_report.html").read_text()
    assert "computes exact base-level alignments" in page


def test_lines_are_shares_in_order(folder: Path) -> None:
    for name in ("identity", "lengths"):
        points = json.loads((folder / f"one.wfacli_{name}_mqc.json").read_text())["data"]["one"]
        assert [x for x, _ in points] == sorted({x for x, _ in points})
        assert sum(y for _, y in points) == pytest.approx(100)
    quality = json.loads((folder / "one.wfacli_quality_mqc.json").read_text())["data"]["one"]
    outcome = json.loads((folder / "one.wfacli_outcome_mqc.json").read_text())["data"]["one"]
    assert sum(quality.values()) == outcome["mapped"]
