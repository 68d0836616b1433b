"""Compare costs and alignments of real reads with other aligners; skipped without the reads."""

import gzip
import itertools
import os
from pathlib import Path

import pytest

import wfacli
from tests import oracles
from tests.oracles import EDIT

FOLDER = Path(os.environ.get("WFACLI_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")
AFFINE = (4, 6, 2)
# Number of pairs of each set; the special sets contain symbols that the rules treat differently.
PLAIN = {"illumina150": 2000, "hifi_human_wfagpu": 50, "ont_sarscov2_amplicon": 300}
SPECIAL = {"special_illumina72_N": 3000, "special_sarscov2_N_iupac": 12, "special_softmask_chimp": 3}


def records(path):
    with gzip.open(path, "rb") as lines:
        for header, symbols in zip(lines, lines, strict=True):
            assert header.startswith(b">")
            yield symbols.strip()


def pairs_of_set(name, count):
    files = [FOLDER / f"{name}.{side}.fa.gz" for side in ("query", "target")]
    if not all(f.exists() for f in files):
        pytest.skip(f"no {name} in {FOLDER}; set WFACLI_TEST_DATA to the folder of real pairs")
    return list(itertools.islice(zip(*map(records, files), strict=True), count))


def assert_replays(pairs, found, costs, rule="mismatch"):
    for (query, target), alignment in zip(pairs, found, strict=True):
        oracles.replay(query, target, alignment.cigar, oracles.WRITTEN[rule])
        charged = oracles.relabelled(query, target, alignment.cigar, oracles.RULES[rule])
        assert oracles.cigar_cost(charged, costs) == -alignment.score


@pytest.mark.parametrize("name", PLAIN | SPECIAL)
def test_edit_distance(name):
    pairs = pairs_of_set(name, (PLAIN | SPECIAL)[name])
    found = wfacli.align_pairs(*zip(*pairs, strict=True), metric="edit", threads=2)
    assert_replays(pairs, found, EDIT)
    assert [-a.score for a in found] == [oracles.edlib_cost(*p) for p in pairs]


@pytest.mark.parametrize("name", PLAIN | SPECIAL)
def test_affine_cost(name):
    pairs = pairs_of_set(name, (PLAIN | SPECIAL)[name])
    found = wfacli.align_pairs(*zip(*pairs, strict=True), threads=2)
    assert_replays(pairs, found, AFFINE)
    assert [-a.score for a in found] == [oracles.pywfa_cost(*p, AFFINE) for p in pairs]


@pytest.mark.parametrize("rule", ["wildcard", "literal"])
@pytest.mark.parametrize("name", SPECIAL)
def test_rules_for_ambiguous_symbols(name, rule):
    pairs = pairs_of_set(name, SPECIAL[name])
    found = wfacli.align_pairs(*zip(*pairs, strict=True), ambiguous=rule, threads=2)
    assert_replays(pairs, found, AFFINE, rule)
    strict = wfacli.align_pairs(*zip(*pairs, strict=True), threads=2)
    assert all(a.score >= b.score for a, b in zip(found, strict, strict=True))
    if rule == "wildcard":  # every set has an N or another code that matches under this rule
        assert any(a.score > b.score for a, b in zip(found, strict, strict=True))


def test_the_canonical_alignment_of_short_reads():
    pairs = [p for p in pairs_of_set("illumina150", 400) if p[0].upper() != p[1].upper()][:60]
    found = wfacli.align_pairs(*zip(*pairs, strict=True))
    assert [(-a.score, a.cigar) for a in found] == oracles.canonical(pairs, AFFINE)
