"""wfacli.Aligner: accepts sequences of any type, returns columns, objects and text, for one pair as for many."""

import doctest
import importlib
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pysam
import pytest

import wfacli
from tests import pairgen
from wfacli import Heuristics, InputError, Limits, Status, api
from wfacli._native import cigar_counts, cigar_texts
from wfacli.core import cigar

QUERIES = ["ACGTTGCA", "ACGNACGT", "", "acgtacgt"]
TARGETS = ["ACGTGCA", "ACGAACGTT", "AC", "ACCTACGT"]
SCHEMES = [
    {"metric": "edit"},
    {"metric": "indel"},
    {"metric": "linear", "penalties": (3, 2)},
    {"metric": "affine", "match": 1},
    {"metric": "affine2p"},
    {"mode": "semiglobal"},
    {"mode": "overlap", "match": 2},
    {"mode": "ends-free", "free": (3, 2, 1, 4)},
    {"mode": "extension", "match": 2, "heuristics": Heuristics(zdrop=20)},
    {"metric": "edit", "ambiguous": "wildcard"},
    {"ambiguous": "literal"},
    {"max_cost": 30},
    {"metric": "edit", "max_cost": 9},
    {"heuristics": Heuristics(band=3, band_step=2)},
    {"score_only": True},
    {"limits": Limits(table=4096, checkpoints=4096)},
    {"metric": "edit", "limits": Limits(table=4096)},
]


def aligned(queries, targets, **options):
    with wfacli.Aligner(**{"threads": 2, **options}) as aligner:
        return aligner.align_batch(queries, targets)


@pytest.mark.parametrize("module", ["wfacli", "wfacli.api", "wfacli.results"])
def test_examples(module):
    outcome = doctest.testmod(importlib.import_module(module))
    assert outcome.attempted and not outcome.failed


def test_examples_of_the_readme():
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    block = readme.split("```python\n")[1].split("```")[0]
    example = doctest.DocTestParser().get_doctest(block, {}, "README.md", "README.md", 0)
    outcome = doctest.DocTestRunner().run(example)
    assert outcome.attempted > 2 and not outcome.failed


def columns(pairs):
    names = ("bases", "q_start", "t_start", "q_len", "t_len", "flags")
    return [getattr(pairs, name).tolist() for name in names]


def test_sequences_of_any_kind():
    expected = columns(wfacli.pack(QUERIES, TARGETS))
    encoded = [q.encode() for q in QUERIES]
    kinds = [
        tuple(QUERIES),
        iter(QUERIES),
        encoded,
        map(bytearray, encoded),
        [memoryview(q) for q in encoded],
        [np.frombuffer(q, np.uint8) for q in encoded],
        np.array(QUERIES),
        np.array(encoded),
        np.array(QUERIES, dtype=object),
        ["ACGTTGCA", b"ACGNACGT", bytearray(), np.bytes_(b"acgtacgt")],
    ]
    for queries in kinds:
        assert columns(wfacli.pack(queries, TARGETS)) == expected
    matrix = np.frombuffer(b"ACGTAACA", np.uint8).reshape(2, 4)
    assert columns(wfacli.pack(matrix, matrix[:, :])) == columns(wfacli.pack(["ACGT", "AACA"], ["ACGT", "AACA"]))


def test_arrays_that_leave_some_of_their_memory_out():
    table = np.frombuffer(b"AxCxGxTxAxxxCxGx", np.uint8).reshape(2, 8)
    whole = wfacli.align_pairs(["ACGT", "A"], ["ACGA", "C"])
    every_second = table[0, ::2]
    assert wfacli.align(every_second, "ACGA") == whole[0]
    assert wfacli.align("ACGA", every_second) == wfacli.align("ACGA", "ACGT")
    assert wfacli.align_pairs([every_second, table[1, :1]], ["ACGA", "C"]) == whole
    assert wfacli.align_pairs(table[:, :1:2], ["C", b"C"]) == wfacli.align_pairs(["A", "A"], ["C", "C"])
    assert wfacli.align_pairs(table[::-1, ::2][1:], ["ACGA"]) == whole[:1]
    with pytest.raises(ValueError, match="targets"):
        wfacli.align_pairs([every_second], ["A", "C"])


def test_a_packed_batch_can_be_aligned_many_times():
    pairs = wfacli.pack(QUERIES, TARGETS)
    with wfacli.Aligner(metric="edit") as edit, wfacli.Aligner() as affine:
        for aligner in (edit, affine, edit):
            assert list(aligner.align_batch(pairs)) == list(aligner.align_batch(QUERIES, TARGETS))
        with pytest.raises(TypeError, match="a packed batch has its targets"):
            edit.align_batch(pairs, TARGETS)
        with pytest.raises(TypeError, match="requires queries and targets"):
            edit.align_batch(QUERIES)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("AC GT", "a blank in the sequence"),
        (b"AC\x00", "a NUL byte in the sequence"),
        ("AC\n", "byte 0x0a in the sequence"),
        ("AÇ", "byte 0xc3 in the sequence"),
        ("A\ud800", "a character that is no text in the sequence"),
    ],
)
def test_what_cannot_stand_in_a_sequence_is_named(bad, message):
    with pytest.raises(InputError, match=f"^query, record pair3: {message}$"):
        wfacli.pack(["A", "C", bad], ["A", "C", "G"])
    with pytest.raises(InputError, match=f"^target, record pair2: {message}$"):
        wfacli.pack(["A", "C"], ["A", bad])
    with pytest.raises(InputError, match=f"^target, record pair1: {message}$"):
        wfacli.align("A", bad)


def test_what_is_no_sequence_is_refused():
    for bad, kind in ((3, "int"), (None, "NoneType"), (["A"], "list")):
        with pytest.raises(TypeError, match=f"^target of pair2: a sequence is str or bytes, not {kind}$"):
            wfacli.pack(["A", "C"], ["A", bad])
    for numbers in (np.zeros(3, np.int32), np.zeros((2, 2), np.uint8)):
        with pytest.raises(TypeError, match=r"^query of pair1: a sequence in an array is one dimension of bytes$"):
            wfacli.align(numbers, "A")
    for one in ("ACGT", b"ACGT", bytearray(b"ACGT")):
        with pytest.raises(TypeError, match=r"^targets is a list of sequences, not one sequence$"):
            wfacli.pack(["A"] * 4, one)
    symbols = np.array([list("ACGT")] * 2)  # one sequence per row, one base per item
    shapes = (np.frombuffer(b"ACGT", np.uint8), symbols, np.array("ACGT"), symbols.astype("O"), np.zeros(4))
    for array in shapes:
        with pytest.raises(TypeError, match=r"^queries, an array of .* dimensions: sequences have shape \[n"):
            wfacli.pack(array, ["A"] * 4)
    with pytest.raises(TypeError, match=r"^targets is a list of sequences, not None$"):
        wfacli.pack(["A"], None)
    with pytest.raises(TypeError):
        wfacli.pack(3, ["A"])
    with pytest.raises(ValueError, match=r"^2 queries, 1 targets$"):
        wfacli.pack(["A", "C"], iter(["A"]))


@pytest.mark.parametrize("options", SCHEMES, ids=str)
def test_one_pair_alone_is_like_one_of_many(options):
    alphabet = b"ACGTN" if "ambiguous" in options else b"ACGT"
    pairs = pairgen.random_pairs(17, 150, 60, alphabet) + pairgen.random_pairs(18, 12, 900, alphabet)
    batch = aligned(*zip(*pairs, strict=True), **options)
    assert [wfacli.align(q, t, **options) for q, t in pairs] == list(batch)
    assert [batch[row] for row in range(len(batch))] == list(batch)


def test_columns_say_what_rows_say():
    pairs = pairgen.random_pairs(5, 300, 80, b"ACGT")
    batch = aligned(*zip(*pairs, strict=True), max_cost=100)
    runs = [batch.cigar[a:b] for a, b in zip(batch.cigar_start[:-1], batch.cigar_start[1:], strict=True)]
    assert batch.cigars() == [cigar.to_text(r) for r in runs] == [a.cigar for a in batch]
    ok = batch.status == Status.OK
    assert 0 < ok.sum() < len(batch)
    assert batch.operation_counts.tolist() == [[cigar.operation_length(r, op) for op in "=XID"] for r in runs]
    assert batch.edits.tolist() == [cigar.edits(r) if good else -1 for r, good in zip(runs, ok, strict=True)]
    assert batch.edits.dtype == np.int32 and batch.identity.dtype == np.float64
    lengths = np.array([sum(row) for row in batch.operation_counts.tolist()])
    assert np.array_equal(np.isnan(batch.identity), lengths == 0)
    assert np.array_equal((batch.identity * lengths)[lengths > 0].round(), batch.operation_counts[lengths > 0, 0])
    assert [a.edits for a in batch] == batch.edits.tolist() and [a.score for a in batch] == batch.score.tolist()
    assert aligned(["ACGT", "A"], ["ACTT", ""]).cigars(cigar_m=True) == ["4M", "1I"]


def test_cigars_that_do_not_fit_their_starts_are_refused():
    runs, long = np.array([(3 << 4) | 7], np.uint32), np.array([((1 << 28) - 1 << 4) | 7] * 3, np.uint32)
    assert cigar_texts(long, np.array([0, 0, 3]), False) == ["*", "268435455=" * 3]
    for starts in ([], [0, 2], [-1, 1], [1, 0], [0, 5, 1]):
        with pytest.raises(ValueError, match="does not fit"):
            cigar_texts(runs, np.array(starts, np.int64), False)
        with pytest.raises(ValueError, match="does not fit"):
            cigar_counts(runs, np.array(starts, np.int64))


def test_a_pair_without_an_alignment_spoils_nothing():
    batch = aligned(["ACGT", "AAAA", "ACGT"], ["ACGT", "CCCC", "ACGA"], metric="edit", max_cost=2)
    assert batch.status.tolist() == [Status.OK, Status.SCORE_LIMIT, Status.OK]
    assert batch.score.tolist() == [0, wfacli.NO_SCORE, -1] and batch.edits.tolist() == [0, -1, 1]
    assert batch.cigars() == ["4=", "*", "3=1X"] and np.isnan(batch.identity[1])
    assert [a.aligned for a in batch] == [True, False, True]
    none = batch[1]
    assert none == wfacli.Alignment(wfacli.NO_SCORE, "*", -1, (0, 0, 0, 0), False, Status.SCORE_LIMIT)
    assert repr(none).endswith("span=(0, 0, 0, 0), exact=False, status=SCORE_LIMIT)")
    assert repr(batch[0]) == "Alignment(score=0, cigar='4=', edits=0, span=(0, 4, 0, 4), exact=True)"
    assert repr(batch) == "<AlignmentBatch: edit, global, 3 pairs, 2 aligned>" and {batch: 1}[batch]
    assert [line.split("\t")[1] for line in batch.to_sam(header=False).splitlines()] == ["0", "4", "0"]
    assert [line.split("\t")[5] for line in batch.to_paf().splitlines()] == ["pair1", "*", "pair3"]


def test_rows_by_index():
    batch = aligned(QUERIES, TARGETS)
    assert batch[np.int64(1)] == batch[1] == batch[-3]
    for row in (4, -5):
        with pytest.raises(IndexError):
            batch[row]
    assert list(aligned([], [])) == [] and aligned([], []).cigars() == [] and aligned([], []).to_paf() == ""


def test_sam_is_a_whole_file_unless_told(tmp_path):
    batch = aligned(QUERIES, TARGETS)
    header, records = batch.to_sam(md=True), batch.to_sam(md=True, header=False)
    assert header.endswith(records) and not records.startswith("@")
    path = tmp_path / "x.sam"
    path.write_text(header)
    with pysam.AlignmentFile(str(path)) as file:
        assert dict(zip(file.references, file.lengths, strict=True)) == {
            f"pair{i}": len(t) for i, t in enumerate(TARGETS, 1)
        }
        assert file.header.to_dict()["PG"][0]["ID"] == "wfacli"
        found = list(file)
    assert [r.query_sequence or "" for r in found] == [q.upper() for q in QUERIES]
    assert [r.get_reference_sequence().upper() for r in found if not r.is_unmapped] == [
        t for q, t in zip(QUERIES, TARGETS, strict=True) if q
    ]
    assert aligned([], []).to_sam().splitlines()[0].startswith("@HD")


def test_names_of_a_batch_that_sam_cannot_hold():
    pairs = wfacli.pack(["A"], ["A"])
    pairs.records.text[0] = ord("@")
    with wfacli.Aligner() as aligner:
        batch = aligner.align_batch(pairs)
    assert batch.to_paf().startswith("@air1")
    with pytest.raises(InputError, match="no such name of a read"):
        batch.to_sam()


def test_options_are_worked_out_once_and_start_no_threads():
    api._cached.cache_clear()
    threads = threading.active_count()
    for penalties in ([1, 2, 3], (1, 2, 3), [1, 2, 3]):
        assert wfacli.align("ACGT", "AGT", penalties=penalties).score == -5
    assert api._cached.cache_info().misses == 1
    assert threading.active_count() == threads
    with pytest.raises(TypeError, match="nonsense"):
        wfacli.align("A", "A", nonsense=1)


def test_one_aligner_serves_many_threads():
    pairs = pairgen.random_pairs(3, 400, 200, b"ACGT")
    expected = [wfacli.align(q, t) for q, t in pairs]
    found = {}

    def run(name):
        with wfacli.Aligner(threads=1) as own:
            one_by_one = [wfacli.align(q, t) for q, t in pairs]
            found[name] = one_by_one, list(own.align_batch(*zip(*pairs, strict=True)))

    workers = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(found[i] == (expected, expected) for i in range(4))


def unlike(length):
    rng = random.Random(length)
    return [pairgen.sequence(rng, length, b"ACGT") for _ in range(2)]


@pytest.mark.parametrize("call", [wfacli.align, lambda q, t: aligned([q], [t])], ids=["align", "align_batch"])
def test_other_threads_run_meanwhile(call):
    query, target = unlike(30_000)
    worker = threading.Thread(target=call, args=(query, target))
    ticks = 0
    worker.start()
    while worker.is_alive():
        time.sleep(0.001)
        ticks += 1
    assert ticks > 3  # while the call held the interpreter, there would be one


INTERRUPTED = """
import signal, sys, threading, time
import wfacli
from tests.unit.test_api_batch import unlike

query, target = unlike(10_000)
begun = time.process_time()
with wfacli.Aligner(threads=int(sys.argv[1])) as aligner:
    aligner.align_batch([query] * 20, [target] * 20)
    for_twenty = time.process_time() - begun
    begun = time.process_time()
    timer = threading.Timer(0.1, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.start()
    try:
        aligner.align_batch([query] * 1000, [target] * 1000)
        raise SystemExit("no interruption")
    except KeyboardInterrupt:
        pass
    assert aligner.align_batch(["ACGT"], ["ACGT"]).cigars() == ["4="]
timer.join()
while any(t.name.startswith("wfacli-cpu") for t in threading.enumerate()):
    time.sleep(0.01)
assert time.process_time() - begun < 20 * for_twenty  # of fifty times as long
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interruption_stops_the_threads_and_the_aligner_goes_on(threads):
    # In a separate process, which the signal interrupts instead of the test.
    program = [sys.executable, "-c", INTERRUPTED, str(threads)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_a_closed_aligner():
    aligner = wfacli.Aligner()
    aligner.close()
    aligner.close()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the Aligner is closed"):
            aligner.align_batch(["ACGT"], ["ACGT"])
        with pytest.raises(RuntimeError, match="the Aligner is closed"):
            aligner.align("A", "A")
        with pytest.raises(RuntimeError, match="the Aligner is closed"), aligner:
            pass


@pytest.mark.parametrize("threads", [0, -1, 1_048_577, 10**30])
def test_a_number_of_threads_out_of_range(threads):
    with pytest.raises(ValueError, match="threads is a number from 1 to 1,048,576, not"):
        wfacli.Aligner(threads=threads)


def test_aligners_that_live_to_the_end_say_nothing():
    program = "import wfacli; keep = wfacli.Aligner(); wfacli.align('A', 'A'); keep.align_batch(['A'], ['A'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == done.stdout == ""


def test_views_that_leave_memory_out():
    symbols = b"AACCGGTT"
    view, array = memoryview(symbols)[::2], np.frombuffer(symbols, np.uint8)[::2]
    expected = wfacli.align("ACGT", "ACGT")
    for one in (view, array, memoryview(array), memoryview(symbols[::2])[::-1][::-1]):
        assert wfacli.align(one, "ACGT") == wfacli.align("ACGT", one) == expected
        assert wfacli.align_pairs([one, "ACGT"], ["ACGT", one]) == [expected, expected]
    assert wfacli.align(memoryview(b"TGCA")[::-1], "ACGT") == expected
    with pytest.raises(TypeError, match="one dimension of bytes"):
        wfacli.align(memoryview(np.zeros(8, np.uint16))[::2], "ACGT")
