"""FASTA, FASTQ, .seq and tables, in all valid variants."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.reading import Pair, pairs_in, read
from wfacli.core.batch import Flag
from wfacli.errors import InputError, UsageError
from wfacli.io.read import reader
from wfacli.io.read.memory import pairs_of
from wfacli.io.read.reader import PairFiles, read_batches
from wfacli.io.read.sources import Source

TARGETS = b">t1 first target\nACGT\n>t2\nGGTTAA\n"
EXPECTED = [Pair("q1", b"ACGTAC", None, "t1", b"ACGT"), Pair("q2", b"TTAA", None, "t2", b"GGTTAA")]
QUERIES = {
    "one line": b">q1 a comment\nACGTAC\n>q2\nTTAA\n",
    "several lines": b">q1\nACG\nTAC\n>q2\nT\nT\nA\nA\n",
    "carriage returns": b">q1 a comment\r\nACGT\r\nAC\r\n>q2\r\nTTAA\r\n",
    "no last line end": b">q1\nACGTAC\n>q2\nTTAA",
    "carriage return at the end": b">q1\nACGTAC\n>q2\nTTAA\r",
    "blank lines": b"\n\n>q1\n\nACGTAC\n\n\n>q2\nTT\n\nAA\n\n",
    "trailing blanks": b">q1  \t\nACGTAC \t \n>q2\t\nTTAA  \n \n",
    "comment after a tab": b">q1\tcomment > with marks\nACGTAC\n>q2 >>\nTTAA\n",
}
FASTQ = b"@q1 x\nACGTAC\n+q1 x\nIIII@+\n@q2\nTTAA\n+\n@>!~\n"
PAIRS_ALONE = {
    "seq": (b">ACGTAC\n<ACGT\n>TTAA\n<GGTTAA\n", ["pair1", "pair2"]),
    "seq with carriage returns": (b"\r\n>ACGTAC\r\n\r\n<ACGT \r\n>TTAA\r\n<GGTTAA", ["pair1", "pair2"]),
    "two columns": (b"ACGTAC\tACGT\nTTAA\tGGTTAA\n", ["pair1", "pair2"]),
    "titles": (b"query\ttarget\nACGTAC\tACGT\nTTAA\tGGTTAA\n", ["pair1", "pair2"]),
    "capital titles after a comment": (b"# made\nQUERY\tTarget\nACGTAC\tACGT\n#\nTTAA\tGGTTAA\n", ["pair1", "pair2"]),
    "three columns": (b"q1\tACGTAC\tACGT\nq2 x\tTTAA\tGGTTAA\n", ["q1", "q2"]),
    "three titles": (b"name\tquery\ttarget\r\nq1\tACGTAC\tACGT\r\n\r\nq2\tTTAA\tGGTTAA\r\n", ["q1", "q2"]),
    "a name is missing": (b"\tACGTAC\tACGT\nq2\tTTAA\tGGTTAA", ["pair1", "q2"]),
}


@pytest.mark.parametrize("style", QUERIES)
def test_fasta(tmp_path, style):
    assert read(tmp_path, QUERIES[style], TARGETS) == (EXPECTED, None)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_fastq(tmp_path, line_end):
    expected = [EXPECTED[0]._replace(quality=b"IIII@+"), EXPECTED[1]._replace(quality=b"@>!~")]
    text = FASTQ.replace(b"\n", line_end)
    assert read(tmp_path, text, TARGETS) == (expected, None)
    assert read(tmp_path, b"\n" + text + b"\n\n", TARGETS) == (expected, None)
    assert read(tmp_path, text.rstrip(), TARGETS) == (expected, None)


def test_fastq_targets(tmp_path):
    pairs, error = read(tmp_path, QUERIES["one line"], FASTQ)
    assert error is None
    assert [(p.t_name, p.target, p.quality) for p in pairs] == [("q1", b"ACGTAC", None), ("q2", b"TTAA", None)]


@pytest.mark.parametrize("style", PAIRS_ALONE)
def test_one_file_of_pairs(tmp_path, style):
    text, names = PAIRS_ALONE[style]
    expected = [p._replace(q_name=name, t_name=name) for p, name in zip(EXPECTED, names, strict=True)]
    assert read(tmp_path, text) == (expected, None)


def test_empty_sequences_and_names(tmp_path):
    expected = [("a", b"", "x", b"AC"), ("", b"GT", "y", b""), ("c", b"", "", b"")]
    fasta = read(tmp_path, b">a\n>\nGT\n>c\n", b">x\nAC\n>y\n\n> z\n")
    fastq = read(tmp_path, b"@a\n\n+\n\n@\nGT\n+\nII\n@c\n\n+\n", b">x\nAC\n>y\n\n> z\n")
    for pairs, error in (fasta, fastq):
        assert error is None
        assert [(p.q_name, p.query, p.t_name, p.target) for p in pairs] == expected
    pairs, error = read(tmp_path, b">\n<AC\n>GT\n<\n>\n<\n")
    assert error is None
    assert [(p.query, p.target) for p in pairs] == [(b"", b"AC"), (b"GT", b""), (b"", b"")]
    pairs, error = read(tmp_path, b"\tAC\nGT\t\n\t\n")
    assert error is None
    assert [(p.query, p.target) for p in pairs] == [(b"", b"AC"), (b"GT", b""), (b"", b"")]


def test_no_records_at_all(tmp_path):
    for nothing in (b"", b"\n", b" \r\n\n"):
        assert read(tmp_path, nothing, b"") == ([], None)
    assert read(tmp_path, b"") == ([], None)
    assert read(tmp_path, b"# nothing\n") == ([], None)


def test_symbols_keep_their_case_and_every_visible_symbol_is_read(tmp_path):
    symbols = bytes(range(0x21, 0x7F)).replace(b">", b"")
    assert read(tmp_path, b">q\n" + symbols, b">t\nacgtn\n") == ([Pair("q", symbols, None, "t", b"acgtn")], None)


def test_columns_of_a_batch():
    batch = pairs_of([b"ACGTU" * 7, b"acgt", b"", b"AC*"], [b"A", b"TTTN", b"", b"GT"])
    assert batch.flags.tolist() == [Flag.NON_ACGT, Flag.NON_ACGT, 0, Flag.NON_ACGT | Flag.NON_NUCLEOTIDE]
    starts = np.concatenate([batch.q_start, batch.t_start])
    assert not (starts % 16).any()
    last = max(starts + np.concatenate([batch.q_len, batch.t_len]))
    assert len(batch.bases) >= last + 64
    assert batch.total_bases == 35 + 1 + 8 + 5
    assert [p.q_name for p in pairs_in(batch)] == ["pair1", "pair2", "pair3", "pair4"]


@pytest.mark.parametrize("block", range(1, 8))
def test_block_boundaries(tmp_path, monkeypatch, block):
    inputs = [(text, TARGETS) for text in [*QUERIES.values(), FASTQ]]
    inputs += [(text,) for text, _ in PAIRS_ALONE.values()]
    expected = [read(tmp_path, *contents) for contents in inputs]
    monkeypatch.setattr(reader, "_BLOCK", block)
    assert [read(tmp_path, *contents) for contents in inputs] == expected


@pytest.fixture(scope="module")
def many():
    rng = random.Random(4)
    symbols = [bytes(rng.choices(b"ACGT", k=rng.choice((0, 1, 5, 30, 200)))) for _ in range(80)]
    return [Pair(f"q{i}", symbols[2 * i], None, f"t{i}", symbols[2 * i + 1]) for i in range(40)]


@pytest.mark.parametrize("block", [1, 7, 64, 500])
@pytest.mark.parametrize("weight", [1, 17, 100, 1000])
def test_batches_of_any_size_hold_the_same_pairs(tmp_path, monkeypatch, many, weight, block):
    """A batch may reach its weight while a query waits for its target, and the target for the next block."""
    monkeypatch.setattr(reader, "_BLOCK", block)
    queries = b"".join(b">%s\n%s\n" % (p.q_name.encode(), p.query) for p in many)
    targets = b"".join(b">%s\n%s\n" % (p.t_name.encode(), p.target) for p in many)
    assert read(tmp_path, queries, targets, weight=weight) == (many, None)
    alone = [p._replace(q_name=f"pair{i}", t_name=f"pair{i}") for i, p in enumerate(many, 1)]
    assert read(tmp_path, b"".join(b">%s\n<%s\n" % (p.query, p.target) for p in many), weight=weight) == (alone, None)
    assert read(tmp_path, b"".join(b"%s\t%s\n" % (p.query, p.target) for p in many), weight=weight) == (alone, None)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("weight", [1, 3_000, 100_000])
def test_a_batch_ends_with_the_pair_that_fills_it(tmp_path, monkeypatch, threads, weight):
    """Blocks of the two files end at other records, so that batches are put together from parts of blocks."""
    monkeypatch.setattr(reader, "_BLOCK", 1000)
    rng = random.Random(weight)
    lengths = [(rng.choice((4, 14, 154)), rng.choice((0, 30, 2000))) for _ in range(600)]  # sums may be the weight
    paths = [tmp_path / name for name in ("q.fa", "t.fa")]
    for number, path in enumerate(paths):
        path.write_bytes(b"".join(b">%d\n%s\n" % (i, b"A" * both[number]) for i, both in enumerate(lengths)))
    expected, filled = [0], 0
    for query, target in lengths:
        if filled >= weight:
            expected, filled = [*expected, 0], 0
        expected[-1] += 1
        filled += 16 + query + target  # 16: as much as a pair weighs beside its bases
    sources = tuple(Source(str(path)) for path in paths)
    assert [len(batch) for batch in read_batches(sources, "two", weight, threads=threads)] == expected


def test_a_query_longer_than_a_batch_and_a_block(tmp_path):
    query, target = b"ACGTTGCA" * 400_000, b"ACGTTGCT" * 400_000
    expected = [Pair("q", query, None, "t", target)] * 2
    queries, targets = 2 * (b">q\n%s\n" % query), 2 * (b">t\n%s\n" % target)
    assert read(tmp_path, queries, targets, weight=1_000_000) == (expected, None)


NAMES = st.text("abcXYZ019_|:.>@+-", min_size=1, max_size=12)
SYMBOLS = st.text("ACGTNacgtn", max_size=50)
LINE_ENDS = st.sampled_from(["\n", "\r\n"])


def wrapped(symbols, width, end):
    return "".join(symbols[i : i + width] + end for i in range(0, len(symbols), width))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_fasta_round_trip(tmp_path, data):
    records = data.draw(st.lists(st.tuples(NAMES, SYMBOLS, NAMES, SYMBOLS), max_size=6))
    end, width = data.draw(LINE_ENDS), data.draw(st.integers(1, 60))
    sides = ["", ""]
    for record in records:
        for side in (0, 1):
            name, symbols = record[2 * side : 2 * side + 2]
            comment = data.draw(st.sampled_from(["", " ", " x y", "\tz"]))
            sides[side] += f">{name}{comment}{end}{wrapped(symbols, width, end)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_BLOCK", data.draw(st.sampled_from([1, 5, 100])))
        pairs, error = read(tmp_path, *(side.encode() for side in sides))
    assert error is None
    assert pairs == [Pair(q, query.encode(), None, t, target.encode()) for q, query, t, target in records]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_fastq_round_trip(tmp_path, data):
    records = data.draw(st.lists(st.tuples(NAMES, SYMBOLS), max_size=6))
    end = data.draw(LINE_ENDS)
    quality_symbols = st.integers(0x21, 0x7E).map(chr)
    qualities = ["".join(data.draw(quality_symbols) for _ in symbols) for _, symbols in records]
    text = "".join(
        f"@{name}{end}{symbols}{end}+{end}{quality}{end}"
        for (name, symbols), quality in zip(records, qualities, strict=True)
    )
    targets = b">t\nA\n" * len(records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_BLOCK", data.draw(st.sampled_from([1, 5, 100])))
        pairs, error = read(tmp_path, text.encode(), targets)
    assert error is None
    expected = [(n, s.encode(), q.encode()) for (n, s), q in zip(records, qualities, strict=True)]
    assert [(p.q_name, p.query, p.quality) for p in pairs] == expected


def test_pairs_in_memory_refuse_what_is_no_sequence():
    for bad in ("AC GT", b"AC\x00", "AC\nGT", "AC\r", b"\xff", "é"):
        with pytest.raises(InputError):
            pairs_of([bad], ["ACGT"])
    with pytest.raises(ValueError, match="2 queries, 1 targets"):
        pairs_of(["A", "C"], ["A"])
    assert len(pairs_of([], [])) == 0


@pytest.mark.parametrize("blank", [" ", "\t", " \t "])
def test_pairs_in_memory_keep_every_symbol_or_refuse_it(blank):
    with pytest.raises(InputError):
        pairs_of(["ACGT" + blank], ["ACGT"])


def test_standard_input_serves_one_of_the_files():
    with pytest.raises(UsageError):
        PairFiles("-", "-")
