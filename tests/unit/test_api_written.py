"""The Python API returns what the command writes: for one pair, a batch and a list of pairs."""

import random

import pytest

import wfacli
from tests import pairgen
from tests.cli.support import run
from wfacli.config import Heuristics, Limits
from wfacli.core import cigar

MODES = {
    "global": {},
    "semiglobal": {"mode": "semiglobal"},
    "overlap": {"mode": "overlap", "match": 2},
    "ends-free": {"mode": "ends-free", "free": (2, 1, 3, 2)},
    "extension": {"mode": "extension", "match": 1},
}
IUPAC = b"ACGTACGTACGTNRYSWKMBDHVNacgtnu"


def pairs_with_codes(rng, count):
    found = [("ACNT", "ACGT"), ("NNNN", "ACGT"), ("RYN", "ACG"), ("ACGT", "ACGT"), ("", "ACN"), ("N", "")]
    for _ in range(count):
        target = pairgen.sequence(rng, rng.choice([5, 30, 150, 700]), rng.choice([IUPAC, b"ACGT"]))
        found.append((pairgen.mutated(rng, target, IUPAC, rng.choice([0.02, 0.2])).decode(), target.decode()))
    return found


def written(pairs, options, folder):
    """Return (score, edits, CIGAR) of each pair as the command writes them."""
    flags = [f"--{name}={value}" for name, value in options.items() if name != "free"]
    if "free" in options:
        flags.append("--free=" + ",".join(map(str, options["free"])))
    text = "".join(f"pair{i}\t{query}\t{target}\n" for i, (query, target) in enumerate(pairs))
    done = run("align", "-", "--format", "tsv", "-q", *flags, cwd=folder, stdin=text.encode())
    assert done.code == 0, done.err
    titles, *rows = done.rows
    places = [titles.index(title) for title in ("score", "edits", "cigar")]
    return [(int(row[places[0]]), int(row[places[1]]), row[places[2]]) for row in rows]


@pytest.mark.parametrize("metric", ["edit", "affine", "affine2p"])
@pytest.mark.parametrize("rule", ["wildcard", "mismatch", "literal"])
@pytest.mark.parametrize("mode", MODES)
def test_python_says_what_the_command_writes(mode, rule, metric, tmp_path):
    options = {**MODES[mode], "ambiguous": rule, "metric": metric}
    pairs = pairs_with_codes(random.Random(f"{mode} {rule} {metric}"), 60)
    wanted = written(pairs, options, tmp_path)
    queries, targets = zip(*pairs, strict=True)
    many = wfacli.align_pairs(queries, targets, **options)
    assert [(a.score, a.edits, a.cigar) for a in many] == wanted
    assert [wfacli.align(*pair, **options) for pair in pairs] == many
    with wfacli.Aligner(**options) as aligner:
        batch = aligner.align_batch(queries, targets)
    assert list(batch) == many and batch.cigars() == [a.cigar for a in many]
    assert batch.edits.tolist() == [a.edits for a in many]
    runs = [batch.cigar[a:b] for a, b in zip(batch.cigar_start[:-1], batch.cigar_start[1:], strict=True)]
    assert [cigar.to_text(own) for own in runs] == batch.cigars()
    lines = [line.partition("NM:i:")[2].split() for line in batch.to_paf().splitlines()]
    assert sum(map(bool, lines)) > 20
    assert all(line[0] == str(a.edits) for line, a in zip(lines, many, strict=True) if line)


def test_what_matches_by_wildcard_alone_is_an_edit_without_a_cost():
    assert wfacli.align("ACNT", "ACGT", ambiguous="wildcard") == wfacli.Alignment(0, "2=1X1=", 1, (0, 4, 0, 4))
    only = wfacli.align("ACNT", "ACGT", ambiguous="wildcard", score_only=True)
    assert (only.score, only.cigar, only.edits) == (0, "*", -1)


@pytest.mark.parametrize(
    "options",
    [
        {"match": 1, "heuristics": Heuristics(xdrop=1)},
        {"metric": "edit", "max_cost": 1},
        {"mode": "semiglobal", "max_cost": 2},
        {"limits": Limits(table=1, checkpoints=1), "length": 70_000},
    ],
    ids=str,
)
def test_a_pair_without_an_alignment_is_not_exact(options):
    rng, options = random.Random(2), dict(options)
    length = options.pop("length", 60)
    queries, targets = ([pairgen.sequence(rng, length, b"ACGT") for _ in range(1200 // length + 1)] for _ in range(2))
    with wfacli.Aligner(**options) as aligner:
        batch = aligner.align_batch(queries, targets)
    many = [*batch, *(wfacli.align(*pair, **options) for pair in zip(queries, targets, strict=True))]
    without = [a for a in many if not a.aligned]
    assert without and not any(a.exact for a in without)
    if "heuristics" in options:
        assert {a.status for a in without} == {wfacli.Status.DROPPED}
