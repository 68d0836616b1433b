"""Simulated pairs: error rates, and identical results on all machines."""

import hashlib
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from wfacli.io.mapper.mapped import read_reference
from wfacli.io.read.sources import Source
from wfacli.simulate.pairs import KINDS, MODELS, PLACES, PairsFormat, PairsSpec, chances, phreds, simulator

RUN = re.compile(r"(\d+)([=XID])")


def texts(spec, count, reference=None, first=0):
    query, target, truth, symbols, edits = simulator(spec, reference).make(first, count)
    return *(bytes(t).decode() for t in (query, target, truth)), symbols, edits


def pairs_of(table):
    return [line.split("\t") for line in table.splitlines()]


def replayed(query, target, cigar):
    """Count bases by operation, and check that the CIGAR fits the pair."""
    at_q = at_t = 0
    counted = dict.fromkeys("=XID", 0)
    for length, op in RUN.findall(cigar):
        for _ in range(int(length)):
            if op in "=X":
                assert (query[at_q] == target[at_t].upper()) == (op == "=")
            at_q += op != "D"
            at_t += op != "I"
        counted[op] += int(length)
    assert (at_q, at_t) == (len(query), len(target))
    return counted


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("error", [None, 0.2])
def test_errors_are_as_many_as_asked_for_and_of_the_models_kinds(model, error):
    spec = PairsSpec(400, 900, 1100, model, error, 5, PairsFormat.TSV, truth=True)
    table, nothing, truth, symbols, edits = texts(spec, 400)
    assert not nothing
    pairs, lines = pairs_of(table), [line.split("\t") for line in truth.splitlines()]
    total = dict.fromkeys("=XID", 0)
    for (name, query, target), line in zip(pairs, lines, strict=True):
        counted = replayed(query, target, line[-1].removeprefix("cg:Z:"))
        assert line[:4] == [name, str(len(query)), "0", str(len(query))]
        assert line[5:9] == [name, str(len(target)), "0", str(len(target))]
        assert int(line[9]) == counted["="] and int(line[10]) == sum(counted.values())
        assert line[12] == f"NM:i:{counted['X'] + counted['I'] + counted['D']}"
        total = {op: total[op] + n for op, n in counted.items()}
    target_symbols = sum(len(target) for _, _, target in pairs)
    assert symbols == target_symbols + sum(len(query) for _, query, _ in pairs)
    assert edits == total["X"] + total["I"] + total["D"]
    asked = MODELS[model].error if error is None else error
    # Gaps and uneven reads vary more than single errors do; deletion rates are biased by at most a tenth.
    assert edits / target_symbols == pytest.approx(asked, rel=0.12)
    shape = MODELS[model]
    gaps = shape.insertion + shape.deletion
    mismatches = shape.mismatch / (shape.mismatch + gaps * shape.gap)
    assert total["X"] / edits == pytest.approx(float(mismatches), abs=0.06)
    assert total["I"] / max(1, total["D"]) == pytest.approx(shape.insertion / shape.deletion, rel=0.35)


def test_symbols_are_all_as_frequent_and_mismatches_are_another_symbol():
    table, *_ = texts(PairsSpec(200, 1000, 1000, error=0.0, format=PairsFormat.TSV), 200)
    targets = "".join(target for _, _, target in pairs_of(table))
    for symbol in "ACGT":
        assert targets.count(symbol) == pytest.approx(len(targets) / 4, abs=5 * math.sqrt(len(targets) * 3 / 16))
    assert all(query == target for _, query, target in pairs_of(table))


# Checksums of reference output. It must stay the same on all machines and in all versions: otherwise, results of
# different versions are not comparable.
@pytest.mark.parametrize(
    ("model", "format_", "expected"),
    [
        ("uniform", "fasta", "ce35c0be2a7f73ab"),
        ("illumina", "fastq", "f54ee66bc5baba63"),
        ("hifi", "seq", "67e456b5f45652ec"),
        ("ont", "fastq", "9c9133f1a111b04f"),
        ("indels", "tsv", "4d14134ef478cebc"),
    ],
)
def test_the_same_bytes_everywhere(model, format_, expected):
    spec = PairsSpec(50, 20, 300, model, None, 11, PairsFormat(format_), truth=True)
    made = texts(spec, 50)
    assert hashlib.sha256("".join(made[:3]).encode()).hexdigest()[:16] == expected


def test_any_part_can_be_made_by_itself():
    spec = PairsSpec(90, 0, 200, "ont", 0.2, 3, PairsFormat.SEQ)
    whole = texts(spec, 90)[0]
    assert whole == texts(spec, 40)[0] + texts(spec, 50, first=40)[0]
    assert whole != texts(PairsSpec(90, 0, 200, "ont", 0.2, 4, PairsFormat.SEQ), 90)[0]
    lengths = {len(line) - 1 for line in whole.splitlines() if line.startswith("<")}
    assert min(lengths) < 20 and max(lengths) > 180


def test_qualities_say_the_chances():
    chance = chances(MODELS["illumina"], Fraction(3, 1000))
    assert chance.shape == (KINDS * PLACES,)
    assert float(chance.mean()) / 2**32 == pytest.approx(0.003, rel=0.001)
    assert chance[PLACES - 1] / chance[0] == pytest.approx(5, rel=0.01)
    expected = [min(40, math.floor(-10 * math.log10(c / 2**32))) for c in chance]
    assert phreds(chance, 40).tolist() == expected
    assert phreds(np.array([0, 2**32 - 1], np.uint32), 60).tolist() == [60, 0]


def test_fastq_has_worse_qualities_at_errors():
    spec = PairsSpec(100, 500, 500, "ont", 0.1, 9, PairsFormat.FASTQ, truth=True)
    reads, targets, truth, *_ = texts(spec, 100)
    records, lines = reads.split("\n"), truth.splitlines()
    right, wrong = [], []
    for i, line in enumerate(lines):
        name, query, plus, quality = records[4 * i : 4 * i + 4]
        assert name == f"@sim{i + 1}" and plus == "+" and len(quality) == len(query)
        at = 0
        for length, op in RUN.findall(line.split("cg:Z:")[1]):
            if op == "D":
                continue
            (right if op == "=" else wrong).extend(ord(q) - 33 for q in quality[at : at + int(length)])
            at += int(length)
    assert targets.count(">") == 100
    assert np.mean(wrong) < np.mean(right) / 1.5
    assert min(wrong) >= 2 and max(right) <= 50


@pytest.fixture
def reference(tmp_path):
    rng = np.random.default_rng(1)
    sequences = ["".join(rng.choice(list("ACGTacgt"), n)) for n in (3000, 40, 900)]
    sequences[0] = sequences[0][:1000] + "N" * 500 + sequences[0][1500:]
    path = tmp_path / "ref.fa"
    path.write_text("".join(f">chr{i} some\n{s}\n" for i, s in enumerate(sequences)))
    return sequences, read_reference(Source(str(path)))


def test_targets_are_windows_of_the_reference(reference):
    sequences, loaded = reference
    spec = PairsSpec(300, 50, 80, error=0.1, seed=2, format=PairsFormat.FASTA)
    _, targets, *_ = texts(spec, 300, loaded)
    seen = set()
    for header, symbols in zip(*[iter(targets.splitlines())] * 2, strict=True):
        _, chromosome, start, end = re.fullmatch(r">(sim\d+) chr(\d):(\d+)-(\d+)", header).groups()
        assert sequences[int(chromosome)][int(start) - 1 : int(end)] == symbols
        assert "N" not in symbols.upper()
        seen.add(int(chromosome))
    assert seen == {0, 2}


def test_a_reference_without_such_windows(reference, tmp_path):
    _, loaded = reference
    with pytest.raises(Exception, match="no sequence is as long as the longest target"):
        simulator(PairsSpec(1, 10, 3001), loaded)
    path = tmp_path / "n.fa"
    path.write_text(">n\n" + "ACGTN" * 200 + "\n")
    with pytest.raises(RuntimeError, match="A, C, G and T alone"):
        texts(PairsSpec(1, 10, 10), 1, read_reference(Source(str(path))))


@pytest.mark.parametrize("model", ["hifi", "ont"])
def test_gaps_lie_where_symbols_repeat(model):
    def share(name):
        spec = PairsSpec(300, 1000, 1000, name, 0.02, 3, PairsFormat.TSV, truth=True)
        table, _, truth, *_ = texts(spec, 300)
        at_repeats = gaps = 0
        for (_, _, target), line in zip(pairs_of(table), truth.splitlines(), strict=True):
            at = 0
            for length, op in RUN.findall(line.split("cg:Z:")[1]):
                if op in "ID" and 0 < at < len(target):
                    gaps += 1
                    at_repeats += target[at] == target[at - 1]
                at += int(length) * (op != "I")
        return at_repeats / gaps

    assert share("uniform") == pytest.approx(0.25, abs=0.05)
    assert share(model) > 0.5
