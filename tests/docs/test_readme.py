"""README.md and docs/speed.md: measured numbers are in bench/results; links, release and citation are right."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest

import wfacli
from bench.pages import speed
from wfacli.config import Metric, Penalties
from wfacli.errors import install
from wfacli.scoring.presets import PRESETS

from .pages import DOCS, ROOT, anchors, links

RESULTS = ROOT / "bench" / "results"
README = (ROOT / "README.md").read_text()
TEXT = README + (DOCS / "speed.md").read_text()
# Tables with measured numbers: start of the header, files with the results, and keys in them.
TABLES = {
    "| pairs | scores: kernels alone": (("sw-table",), ("tcups", "kernel_tcups", "bus_tcups")),
    "| pair | bases | distance | wavefront, GPU": (
        ("distance-table", "distance-scale"),
        ("best_seconds", "seconds"),
    ),
    "| pair | path, GPU": (("distance-table", "distance-goals"), ("best_seconds",)),
    "| pair | bases | every cell": (("local-gpu",), ("score", "path", "tcups", "own_seconds")),
    "| | seconds | pairs/s": (("whole-command",), ("best_seconds",)),
}
# Sentences with measured numbers, in the same form.
N = r"([\d.]+)"
PROSE = (
    (f"scores in {N} s for PacBio's pairs and in {N} s for ONT's", ("band-table", "band-lone"), ("best_seconds",)),
    (f"exactly in {N} and {N} s, in the same run", ("band-table", "band-lone"), ("best_seconds",)),
    (f"bases took {N} s with it and {N} s without", ("band-table",), ("best_seconds",)),
    (f"take the wavefront {N} s and .* and bits {N} s", ("distance-scale",), ("seconds",)),
    (f"random bases {N} s and {N} s", ("distance-scale",), ("seconds",)),
    (f"at 8% takes {N} s [^.]* or {N} s", ("long-pairs",), ("wall_seconds",)),
    (f"at 99.4% take {N} s [^.]* or {N} s", ("long-pairs",), ("wall_seconds",)),
    (f"{N} to {N} times edlib's rate", ("api-rate",), ("times_the_peer",)),
    (f"and {N} to {N} times pywfa's", ("api-rate",), ("times_the_peer",)),
    (
        f"With one call per pair: {N} to {N} times edlib's and {N} to {N} times pywfa's",
        ("api-rate",),
        ("times_the_peer",),
    ),
    (f"WFA-GPU {N} to {N} s, GASAL2 {N} s", ("gpu-table",), ("best_seconds",)),
    (f"{N} MB for three million pairs to PAF, {N} MB", ("peak-memory",), ("300000", "3000000")),
    (f"with the path: {N} to {N} microseconds", ("free-table",), ("us_a_pair",)),
    (f"300, {N} to {N} in 10,000", ("free-table",), ("us_a_pair",)),
    (f"takes {N} to {N} times as long with paths, scores alone {N} to {N} times", ("free-table",), ("ratio",)),
    (f"function takes {N} to {N} times as long for scores", ("overlap-table",), ("ratio",)),
    (f"SAM output needs {N} MB and {N} MB", ("peak-memory",), ("300000", "3000000")),
)
MEGA = ("300000", "3000000")  # keys of values in bytes, which the text gives in MB
NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*\.\d+(?![\w.]|\d| [Mk]\b|%)")  # except for lengths and rates


def test_badges_are_true():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    shown = dict(re.findall(r"!\[([^]]+)\]\((docs/pictures/\w+\.svg)\)", README))
    labels = {(ROOT / path).read_text().split('aria-label="')[1].split('"')[0] for path in shown.values()}
    python = project["requires-python"].removeprefix(">=")
    assert labels == {f"licence: {project['license']}", f"Python: {python} or newer", "platform: Linux"}
    assert {*shown} == {f"Licence: {project['license']}", f"Python {python} or newer", "Linux"}
    assert any("Linux" in one for one in project["classifiers"])
    assert not [one for one in project["classifiers"] if "macOS" in one or "Windows" in one]


def leaves(value: Any, keys: tuple[str, ...]) -> Iterator[Decimal]:
    if isinstance(value, dict):
        for key in set(keys) & value.keys():
            if isinstance(value[key], float):
                yield Decimal(repr(value[key]))
            elif key in MEGA:
                yield Decimal(value[key]) / 1_000_000
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from leaves(one, keys)


def known(kinds: tuple[str, ...], keys: tuple[str, ...]) -> set[Decimal]:
    found: set[Decimal] = set()
    for path in sorted(RESULTS.iterdir()):
        if any(kind in path.name for kind in kinds):
            if path.suffix == ".json":
                found |= set(leaves(json.loads(path.read_text()), keys))
            elif path.suffix == ".md":
                found |= {Decimal(text.replace(",", "")) for text in NUMBER.findall(path.read_text())}
    return found


def rounded_from(text: str, values: set[Decimal]) -> bool:
    shown = Decimal(text.replace(",", ""))
    steps = Decimal(1).scaleb(shown.as_tuple().exponent)
    return any(v.quantize(steps, how) == shown for v in values for how in (ROUND_HALF_UP, ROUND_HALF_EVEN))


def tables(text: str) -> dict[str, str]:
    """Return the tables whose headers are in TABLES, by header."""
    found = re.findall(r"((?:^\|.*\n)+)", text, re.M)
    return {head: table for table in found for head in TABLES if table.startswith(head)}


@pytest.mark.parametrize("head", [head for head in TABLES if head in tables(TEXT)])
def test_numbers_of_tables_are_in_files(head):
    values = known(*TABLES[head])
    numbers = NUMBER.findall(tables(TEXT)[head])
    assert len(numbers) > 2
    assert [text for text in numbers if not rounded_from(text, values)] == []


def test_all_tables_are_found():
    assert set(tables(TEXT)) == set(TABLES)


@pytest.mark.parametrize("page", [speed.README, speed.SPEED], ids=lambda page: page.name)
def test_generated_blocks_are_made_of_files(page):
    shallow = subprocess.run(["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT, capture_output=True, text=True)
    if shallow.stdout.strip() != "false":
        pytest.skip("which of a day's results is newest is in the history, which is not here")
    assert speed.made_of(page) == page.read_text(), "make docs, or python -m bench.pages.speed, and commit"


@pytest.mark.parametrize(("said", "kinds", "keys"), PROSE)
def test_numbers_of_sentences_are_in_files(said, kinds, keys):
    found = re.search(said.replace(" ", r"\s+"), TEXT)
    assert found, "it is said in other words now"
    values = known(kinds, keys)
    assert [text for text in found.groups() if not rounded_from(text, values)] == []


def test_how_the_cpu_compares_is_counted_and_what_a_peer_wins_is_said(tmp_path):
    written(
        tmp_path,
        "cpu-table",
        "2026-01-02",
        [cell("a", 0.5, wfa_gpu=0.25), cell("b", 0.5, wfa_gpu=0.6), cell("c", 0.25, wfa_gpu=1.0), cell("d", 1.0)],
    )
    written(tmp_path, "cpu-table-part", "2026-01-03", [cell("a", 0.5, wfa_gpu=1.0)])
    made = speed.cpu_block(tmp_path)
    assert "In 2 of 3 cells wfacli is at least as fast as the best peer, in 1 twice as fast." in made
    assert "**Faster than wfacli:** a, affine CIGAR: WFA-GPU (5 batches) takes 0.500 of our time." in made


def cell(row: str, ours: float, **peers: float) -> dict[str, Any]:
    seconds = {"wfacli": ours, **{name.replace("_", "-"): s for name, s in peers.items()}}
    timings = [
        {"aligner": name, "best_seconds": s, "equal_share": 0.75 if name == "gasal2" else 1.0}
        for name, s in seconds.items()
    ]
    best = "wfa-gpu 5 batches" if "wfa_gpu" in peers else None
    ratio = peers["wfa_gpu"] / ours if best else None
    return {
        "row": row,
        "task": "affine CIGAR",
        "timings": timings,
        "not_run": {},
        "best_peer": best,
        "best_peer_by_ours": ratio,
    }


def written(folder: Path, name: str, date: str, cells: list[dict[str, Any]]) -> None:
    rows = {one["row"]: {"pairs": 10} for one in cells}
    report = {"name": name, "date": date, "commit": "abc", "machine": {"cpu": "CPU"}, "workload": {"rows": rows}}
    report["rules"] = {"repeats": 2 if name.endswith("part") else 5}
    (folder / f"{date}-{name}.json").write_text(json.dumps(report | {"cells": cells}))


def test_newest_times_stand_beside_a_run_with_peers_and_what_a_peer_wins_is_said(tmp_path):
    first, second = "2 M × 150 bp 2%", "2 M × 150 bp 5%"
    written(
        tmp_path,
        "gpu-table",
        "2026-01-02",
        [cell(first, 0.5, wfa_gpu=0.25, gasal2=2.0), cell(second, 0.5, wfa_gpu=1.0)],
    )
    written(tmp_path, "gpu-table-part", "2026-01-03", [cell(first, 0.125)])
    made = speed.block(tmp_path)
    assert "| 2 M × 150 bp, 2% | 0.125 | 0.500 | 0.250 | 2.00, 25.0% wrong | – | – | – |" in made
    assert "| 5% | 0.500 | 0.500 | 1.00 | – | – | – | – |" in made
    assert "wfacli is 0.500 to 2.00 times as fast as WFA-GPU (2 cells)" in made
    assert "**Faster than wfacli:** 2 M × 150 bp 2%, affine CIGAR: WFA-GPU takes 0.500 of our time." in made
    assert "[`abc`](../bench/results/2026-01-03-gpu-table-part.json) of 2026-01-03, best of 2; else" in made
    assert "commit `abc`, best of 5." in made


def test_headlines_say_where_a_peer_is_faster(tmp_path):
    few = [cell("a", 0.5, wfa_gpu=0.25), cell("b", 0.5, wfa_gpu=1.0)]
    written(tmp_path, "cpu-table", "2026-01-02", few)
    written(tmp_path, "cpu-table-x86-64-v3-part", "2026-01-02", [*few, cell("c", 0.5, wfa_gpu=0.4)])
    written(tmp_path, "gpu-table", "2026-01-02", [cell("2 M × 150 bp 2%", 0.5, wfa_gpu=0.25)])
    rows = [{"better": 1200, "equal": 30, "worse": 4}, {"better": 0, "equal": 1, "worse": 1}]
    (tmp_path / "m.json").write_text(json.dumps({"name": "mapped-scores", "date": "2026-01-02", "rows": rows}))
    made = speed.headlines(tmp_path)
    assert "in 1 of 2 cells (data set × task); with AVX2 alone, a peer is faster in 2 of 3." in made
    assert ": 0.500 to 0.500 times as fast as WFA-GPU." in made
    assert "of 1,236 minimap2 mappings, 1,200 score higher" in made and "span, 5 lower" in made
    assert "**Faster than wfacli:** a, affine CIGAR" in speed.cpu_block(tmp_path).split("AVX2")[1]


def test_counts_of_mapped_scores_are_those_of_the_readme():
    said = r"([\d,]+) mappings of real reads [^.]*?, (\d+) score higher"
    total, better = re.search(said, TEXT.replace("\n", " ")).groups()
    assert f"of {total} minimap2 mappings, {better} score higher" in README


def test_links_of_the_readme_lead_somewhere():
    for link in links(README):
        path, _, anchor = link.partition("#")
        assert (ROOT / path).exists(), link
        assert not anchor or anchor in anchors((ROOT / path).read_text()), link


def test_the_readme_says_whether_there_is_a_release():
    newest = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    assert newest.split()[0] == wfacli.__version__
    assert ("no release on PyPI yet" in README) == newest.endswith("(not released)")
    assert install("bam").startswith(
        "pip install '.[bam]'" if newest.endswith("(not released)") else "pip install 'wf"
    )


def test_the_scores_of_minimap2_are_right():
    row = r"minimap2's `map-ont` \| `--metric (\w+) --match (\d+) --penalties ([\d,]+) --n-penalty (\d+)`"
    metric, match, penalties, charge = re.search(row, (DOCS / "how-to" / "pairs.md").read_text()).groups()
    found = Penalties.parse(Metric(metric), penalties, int(match))
    assert dataclasses.replace(found, ambiguous=int(charge)) == PRESETS["map-ont"].penalties


def test_the_readme_is_short():
    prose = re.sub(r"^```.*?^```|<!--.*?-->", "", README, flags=re.M | re.S)
    assert len(prose.split()) <= 750


def test_the_citation_is_of_this_version():
    said = dict(re.findall(r"^(\S+): (.*)$", (ROOT / "CITATION.cff").read_text(), re.M))
    assert said["cff-version"] == "1.2.0" and said["title"] == "wfacli" and said["license"] == "MIT"
    assert said["version"] == wfacli.__version__
