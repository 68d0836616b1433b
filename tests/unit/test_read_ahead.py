"""Files parsed by several threads give the same pairs and errors as by one thread."""

import contextlib
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.unit.reading import AT_ONCE, pairs_in, read, read_files, within
from tests.unit.test_reader_faults import FAULTS
from tests.unit.test_readers import FASTQ, QUERIES, TARGETS
from wfacli._native import PairReader
from wfacli.errors import InputError
from wfacli.io.read import reader
from wfacli.io.read.sources import Source

THREADS = 4
# Valid quality strings that look like the start of another record or line.
TRAPS = [b"@", b"+", b"@x", b"+\n", b">", b"@@@@", b"++++"]


def told(result):
    pairs, error = result
    return pairs, error and (error.path, error.line, error.record, str(error))


def quality(rng, length):
    trap = rng.choice(TRAPS).strip()
    return (trap + bytes(rng.choices(b"!+@>IJ~", k=length)))[:length]


def fastq(rng, records, end):
    out = []
    for i in range(records):
        length = rng.choice([0, 1, 2, 3, 20, 60])
        symbols = bytes(rng.choices(b"ACGTNacgt+@", k=length))
        comment = rng.choice([b"", b" x y", b"\tz"])
        plus = rng.choice([b"+", b"+q%d" % i, b"+@"])
        out.append(end.join([b"@q%d%s" % (i, comment), symbols, plus, quality(rng, length)]) + end)
    return b"".join(out)


def fasta(rng, records, end):
    out = []
    for i in range(records):
        symbols = bytes(rng.choices(b"ACGTNacgt", k=rng.choice([0, 1, 5, 40, 200])))
        width = rng.choice([7, 60, 1000])
        lines = [symbols[j : j + width] for j in range(0, len(symbols), width)]
        out.append(end.join([b">q%d%s" % (i, rng.choice([b"", b" > x"])), *lines]) + end)
        out.append(rng.choice([b"", b"", end]))
    return b"".join(out)


def damaged(rng, text):
    """Return the text, possibly with a byte or line added, removed or changed."""
    kind, at = rng.randrange(6), rng.randrange(len(text))
    if kind < 2:
        return text
    if kind == 2:
        return text[:at]
    if kind == 3:
        return text[:at] + rng.choice([b"\n", b" ", b"\0", b"@", b">", b"A"]) + text[at + 1 :]
    line = text.find(b"\n", at) + 1
    return text[:line] + (rng.choice([b"@q\nAC\n", b"\n", b">x\n"]) + text[line:] if kind == 4 else text[line + 3 :])


@pytest.mark.parametrize("seed", range(150))
def test_random_files(tmp_path, monkeypatch, seed):
    rng = random.Random(seed)
    queries, targets = (
        damaged(rng, rng.choice([fastq, fasta])(rng, rng.randrange(1, 60), rng.choice([b"\n", b"\n", b"\r\n"])))
        for _ in range(2)
    )
    weight = rng.choice([50, 1000, 1 << 30])
    expected = told(read(tmp_path, queries, targets, weight=weight))
    for block in (rng.randrange(1, 40), rng.randrange(40, 600)):
        monkeypatch.setattr(reader, "_BLOCK", block)
        assert told(read_files(tmp_path / "query", tmp_path / "target", weight=weight, threads=THREADS)) == expected, (
            block
        )


def behind_blank_lines(folder, places):
    """Return the places moved behind blank lines, before or after which a file may be cut."""
    found = []
    for name, (offset, lines, records) in zip(("query", "target"), places, strict=True):
        text = (folder / name).read_bytes()[offset:]
        blank = len(text) - len(text.lstrip(b"\r\n"))
        found.append((offset + blank, lines + text[:blank].count(b"\n"), records))
    return found


def places_behind_batches(folder, weight, threads):
    """Return the places of both streams behind each batch, and the message of a fault."""
    sources = tuple(Source(str(folder / name)) for name in ("query", "target"))
    pairs = PairReader("two", False, False)
    pairs.track()
    found = []
    try:
        for batch in reader.batches_of(pairs, sources, weight, threads=threads):
            found.append((len(batch), behind_blank_lines(folder, pairs.places())))
    except InputError as error:
        return found[:-1], str(error)  # what is between the last batch and the fault has no place
    finally:
        for source in sources:
            source.close()
    return found, behind_blank_lines(folder, pairs.places())


@pytest.mark.parametrize("seed", range(150))
def test_places_of_records(tmp_path, monkeypatch, seed):
    """A place is the same whichever thread has parsed the record there, and a record begins there."""
    rng = random.Random(seed)
    kinds = [rng.choice([fastq, fasta]) for _ in range(2)]
    ends = [rng.choice([b"\n", b"\n", b"\r\n"]) for _ in range(2)]
    count, other = rng.randrange(1, 80), rng.choice([0, 0, 0, 1])
    texts = [kind(rng, count + i * other, end) for i, (kind, end) in enumerate(zip(kinds, ends, strict=True))]
    texts[0] = damaged(rng, texts[0]) if seed % 3 == 0 else texts[0]
    for name, text in zip(("query", "target"), texts, strict=True):
        (tmp_path / name).write_bytes(text)
    weight = rng.choice([20, 200, 1000])
    expected = places_behind_batches(tmp_path, weight, 1)
    for block in (rng.randrange(1, 40), rng.randrange(40, 600)):
        monkeypatch.setattr(reader, "_BLOCK", block)
        assert places_behind_batches(tmp_path, weight, THREADS) == expected, block
    if seed % 3 and not other:
        for _, places in expected[0]:
            for (offset, lines, records), text in zip(places, texts, strict=True):
                assert text[:offset].count(b"\n") == lines
                assert text[offset : offset + 1] in (text[:1], b"")
                assert records <= count


@pytest.mark.parametrize("case", [c for c in FAULTS if len(FAULTS[c][0]) == 2])
def test_faults_behind_many_records(tmp_path, monkeypatch, case):
    """The line number of an error counts from the start of the file, whichever thread finds it."""
    texts = FAULTS[case][0]
    kinds = [b"@r\nACGT\n+\n@@@@\n" if text.lstrip()[:1] == b"@" else b">r\nACGT\n" for text in texts]
    contents = [kind * 40 + text for kind, text in zip(kinds, texts, strict=True)]
    expected = told(read(tmp_path, *contents))
    for block in (5, 37, 128):
        monkeypatch.setattr(reader, "_BLOCK", block)
        assert told(read_files(tmp_path / "query", tmp_path / "target", threads=THREADS)) == expected


@pytest.mark.parametrize("block", range(1, 40, 3))
def test_all_ways_to_write_records(tmp_path, monkeypatch, block):
    for queries in [*QUERIES.values(), FASTQ]:
        expected = told(read(tmp_path, queries, TARGETS))
        monkeypatch.setattr(reader, "_BLOCK", block)
        assert told(read_files(tmp_path / "query", tmp_path / "target", threads=THREADS)) == expected
        monkeypatch.undo()


def test_a_record_of_many_blocks_between_short_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "_BLOCK", 1000)
    queries = b">a\nAC\n" * 700 + b">long\n" + b"ACGTTGCA\n" * 20_000 + b">a\nAC\n" * 700
    targets = b">t\nACGT\n" * 1401
    pairs, error = read(tmp_path, queries, targets)
    assert error is None and len(pairs[700].query) == 160_000
    assert read_files(tmp_path / "query", tmp_path / "target", threads=THREADS) == (pairs, None)


def test_a_long_record_costs_what_short_ones_do(tmp_path, monkeypatch):
    """A chromosome in many blocks is not copied again for each block."""
    monkeypatch.setattr(reader, "_BLOCK", 1 << 12)
    line = b"ACGTTGCA" * 8 + b"\n"
    spent = {}
    for form, lines in (("short", 64), ("long", 1 << 18)):
        path = tmp_path / form
        path.write_bytes((b">r\n" + line * lines) * ((1 << 18) // lines))
        before = time.process_time()
        with contextlib.closing(Source(str(path))) as source, within(60):
            batches = reader.read_batches((source,), "targets", AT_ONCE, threads=THREADS)
            assert sum(int(batch.t_len.sum()) for batch in batches) == 1 << 24
        spent[form] = time.process_time() - before
    assert spent["long"] < 10 * spent["short"], spent


def test_a_reader_may_be_left_in_the_middle(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "_BLOCK", 100)
    (tmp_path / "query").write_bytes(b">q\nACGT\n" * 5000)
    source = reader.Source(str(tmp_path / "query"))
    batches = reader.read_batches((source,), "targets", 100, threads=THREADS)
    assert len(next(batches)) > 0
    batches.close()
    source.close()


@pytest.mark.parametrize("threads", [1, THREADS])
@pytest.mark.parametrize("weight", [100, 3_000, AT_ONCE])
def test_batches_that_are_completed_when_the_files_are_closed(tmp_path, monkeypatch, weight, threads):
    monkeypatch.setattr(reader, "_BLOCK", 700)
    rng = random.Random(weight)
    (tmp_path / "q").write_bytes(fastq(rng, 400, b"\n"))
    (tmp_path / "t").write_bytes(fasta(rng, 400, b"\r\n"))
    sources = tuple(Source(str(tmp_path / name)) for name in ("q", "t"))
    later = list(reader.later_batches(sources, "two", weight, threads=threads))
    for source in sources:
        source.close()
    with ThreadPoolExecutor(2) as pool:
        late = list(pool.map(lambda complete: complete(), later[::-1]))[::-1]
    sources = tuple(Source(str(tmp_path / name)) for name in ("q", "t"))
    for batch, found in zip(reader.read_batches(sources, "two", weight), late, strict=True):
        assert batch.ordinal == found.ordinal
        assert pairs_in(batch) == pairs_in(found)
        assert (batch.flags == found.flags).all()
