"""Match counts compared with all pairs of k-mers, windows along paths, and alignment files."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from wfacli._native import dot_counts, path_windows
from wfacli.core import cigar as cigars
from wfacli.dotplot import density as densities
from wfacli.dotplot.colours import DARK, LIGHT, blended, scale
from wfacli.dotplot.density import default_k, density, shape
from wfacli.dotplot.page import page
from wfacli.dotplot.paths import Block, lines_of, read_blocks
from wfacli.dotplot.picture import picture_of
from wfacli.dotplot.sequences import Axis, read_records
from wfacli.errors import InputError, UsageError

OPPOSITE = bytes.maketrans(b"ACGTU", b"TGCAA")
EVERY = 1 << 40


def symbols(text: str | bytes) -> np.ndarray:
    return np.frombuffer(text.encode() if isinstance(text, str) else text, np.uint8)


def some(count: int, seed: int, alphabet: str = "ACGT") -> str:
    return "".join(random.Random(seed).choices(alphabet, k=count))


def reverse_complement(text: str) -> str:
    return text.encode().translate(OPPOSITE)[::-1].decode()


def starts(*lengths: int) -> np.ndarray:
    return np.cumsum([0, *lengths]).astype(np.int64)


def counted(query, target, k, columns, rows, *, literal=False, sampled=0, most=EVERY, q_starts=None, t_starts=None):
    q = symbols(query) if isinstance(query, (str, bytes)) else query
    t = symbols(target) if isinstance(target, (str, bytes)) else target
    forward, reverse, *rest = dot_counts(
        q,
        t,
        starts(len(q)) if q_starts is None else q_starts,
        starts(len(t)) if t_starts is None else t_starts,
        k=k,
        literal=literal,
        sampled=sampled,
        columns=columns,
        rows=rows,
        max_pixels=most,
    )
    return forward.reshape(rows, columns), reverse.reshape(rows, columns), rest


def expected(query: str, target: str, k, columns, rows, *, literal=False, q_starts=None, t_starts=None):
    """Return the counts from all pairs of k-mers; k-mers that cross a border are ignored."""
    forward, reverse = np.zeros((rows, columns), int), np.zeros((rows, columns), int)

    def kmers(text, borders):
        for i in range(len(text) - k + 1):
            kmer = text[i : i + k] if literal else text[i : i + k].upper().replace("U", "T")
            inside = borders is None or not any(i < border < i + k for border in borders)
            if inside and (literal or set(kmer) <= set("ACGT")):
                yield i + k // 2, kmer

    for y, a in kmers(query, q_starts):
        for x, b in kmers(target, t_starts):
            pixel = y * rows // len(query), x * columns // len(target)
            forward[pixel] += a == b
            reverse[pixel] += not literal and a == reverse_complement(b)
    return forward, reverse


def same(found, wanted) -> None:
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1])


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 9, 16, 31, 32])
@pytest.mark.parametrize("literal", [False, True])
def test_counts_are_those_of_all_pairs(k: int, literal: bool) -> None:
    shared = some(60, 7)
    query = some(70, k) + shared + some(50, k + 1) + reverse_complement(shared)
    target = shared.lower() + some(90, k + 2, "ACGTNRU") + shared
    same(counted(query, target, k, 17, 23, literal=literal), expected(query, target, k, 17, 23, literal=literal))


def test_palindromes_match_on_both_strands() -> None:
    forward, reverse, _ = counted("ACGT", "ACGT", 4, 1, 1)
    assert (forward[0, 0], reverse[0, 0]) == (1, 1)
    same(counted("ATATATAT" * 4, "TATATA" * 5, 4, 5, 3), expected("ATATATAT" * 4, "TATATA" * 5, 4, 5, 3))


def test_many_parts() -> None:
    # Enough k-mers for several parts, with several buckets each.
    query = some(40_000, 1)
    target = query[:15_000] + reverse_complement(query[20_000:30_000]) + some(5_000, 2)
    forward, reverse, (_, _, found, thinned) = counted(query, target, 15, 6, 8)
    wanted = np.zeros((8, 6), int), np.zeros((8, 6), int)
    places: dict[str, list[int]] = {}
    for j in range(len(target) - 14):
        places.setdefault(target[j : j + 15], []).append(j)
    both = set()
    for i in range(len(query) - 14):
        kmer = query[i : i + 15]
        for strand, key in enumerate((kmer, reverse_complement(kmer))):
            for j in places.get(key, ()):
                both.add(min(key, reverse_complement(key)))
                wanted[strand][(i + 7) * 8 // len(query), (j + 7) * 6 // len(target)] += 1
    same((forward, reverse), wanted)
    assert (found, thinned) == (len(both), 0)


@pytest.mark.parametrize("lengths", [(0, 0), (0, 9), (9, 0), (4, 9), (5, 5)])
def test_empty_and_short_sequences(lengths: tuple[int, int]) -> None:
    query, target = ("ACGTACCCA"[:n] for n in lengths)
    same(counted(query, target, 5, 3, 2), expected(query, target, 5, 3, 2))
    counts = density(Axis.of(symbols(query), "q"), Axis.of(symbols(target), "t"), 5, 100, False)
    assert counts.forward.shape == (max(lengths[0], 1), max(lengths[1], 1))
    assert counts.forward.sum() == (min(lengths) == 5)
    assert counts.top == 2


def test_borders_of_pixels() -> None:
    # The middle base of ACGTC is the first of a pixel, or the last of the pixel before.
    for before in range(12):
        query = "T" * before + "ACGTC" + "T" * (11 - before)
        forward, _, _ = counted(query, "ACGTC", 5, 1, 4)
        assert forward[:, 0].tolist() == [int((before + 2) * 4 // 16 == row) for row in range(4)]


def test_kmers_end_with_their_record() -> None:
    query, target = some(80, 3, "AC"), some(90, 4, "AC")
    q_starts, t_starts = starts(0, 33, 4, 43), starts(50, 40)
    wanted = expected(query, target, 4, 9, 8, q_starts=q_starts, t_starts=t_starts)
    same(counted(query, target, 4, 9, 8, q_starts=q_starts, t_starts=t_starts), wanted)
    assert wanted[0].sum() < expected(query, target, 4, 9, 8)[0].sum()


def test_long_records_are_whole() -> None:
    # Longer than the part processed between two polls for signals.
    target = symbols("ACGT")[np.random.default_rng(1).integers(0, 4, (1 << 24) + 64)]
    forward, _, _ = counted(target[-128:].copy(), target, 25, 1, 1, sampled=0)
    assert forward[0, 0] == 128 - 24


def test_words_instead_of_bytes() -> None:
    words = np.array([70_000, 5, 1 << 31, 5, 70_000, 6], np.uint32)
    forward, reverse, _ = counted(words, words[:3].copy(), 1, 3, 6, literal=True)
    assert forward.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert not reverse.any()


def test_a_sample_has_all_places_of_what_it_has() -> None:
    query, target = some(3000, 5), some(3000, 5)[500:2500]
    everything = counted(query, target, 12, 40, 60)[0]
    parts = [counted(query, target, 12, 40, 60, sampled=sampled)[0] for sampled in (1, 3)]
    for sampled, part in zip((1, 3), parts, strict=True):
        assert (part <= everything).all()
        assert 0.5 < part.sum() * 2**sampled / everything.sum() < 1.5
    assert (parts[1] <= parts[0]).all()


def test_repeats_are_thinned_evenly_and_told() -> None:
    query, target = "A" * 200, "A" * 100
    _, _, (*_, shared, thinned) = counted(query, target, 5, 50, 50)
    assert (shared, thinned) == (1, 0)
    assert counted(query, target, 5, 5, 5, most=5)[2][3] == 0  # the limit is on pixels
    forward, _, (*_, shared, thinned) = counted(query, target, 5, 50, 50, most=10)
    assert (shared, thinned) == (1, 1)
    assert np.count_nonzero(forward.any(axis=1)) == np.count_nonzero(forward.any(axis=0)) == 10
    for side in (0, 1):
        assert set(np.diff(np.flatnonzero(forward.any(axis=side)))) <= {4, 5}


def test_counts_are_held() -> None:
    run = b"A" * 70_000
    forward, _, _ = counted(run, run, 1, 1, 1)
    assert forward[0, 0] == 2**32 - 1


@pytest.mark.parametrize(
    "wrong",
    [{"k": 0}, {"k": 33}, {"k": 65, "literal": True}, {"columns": 0}, {"rows": 1 << 15}, {"most": 0}, {"sampled": 31}],
)
def test_arguments_out_of_range(wrong: dict[str, int]) -> None:
    usual = {"k": 5, "columns": 4, "rows": 4}
    with pytest.raises(ValueError, match=r"k is|pixels|sample"):
        counted("ACGTACGT", "ACGT", **{**usual, **wrong})


@pytest.mark.parametrize("borders", [[0, 3], [1, 8], [0, 9, 8], []])
def test_records_that_are_none(borders: list[int]) -> None:
    with pytest.raises(ValueError, match="records"):
        counted("ACGTACGT", "ACGT", 2, 1, 1, q_starts=np.array(borders, np.int64))


def test_long_sequences_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(densities, "_MAX_KMERS", 1000)
    axis = Axis.of(symbols(some(4001, 6)), "a")
    assert density(axis, axis, None, 100, False).sampling_rate == 8
    assert density(Axis.of(symbols(some(1000, 6)), "a"), axis, 11, 100, False).sampling_rate == 8
    assert density(Axis.of(symbols(some(1000, 6)), "a"), Axis.of(symbols("A"), "b"), 11, 100, False).sampling_rate == 1


def test_usual_choices() -> None:
    assert [default_k(n, False) for n in (0, 100, 10_000, 5_000_000, 250_000_000)] == [7, 9, 13, 17, 19]
    assert [default_k(n, True) for n in (0, 140, 1_000_000)] == [3, 4, 7]
    assert shape(500, 1000, 100) == (50, 100)
    assert shape(10, 1_000_000, 1000) == (10, 1000)  # no pixel is smaller than a base
    assert shape(1_000_000, 10_000, 1000) == (1000, 250)
    axis = Axis.of(symbols("ACGT"), "a")
    for k, size in ((33, 100), (0, 100), (5, 15), (5, 9000)):
        with pytest.raises(UsageError):
            density(axis, axis, k, size, False)


def test_levels() -> None:
    axis = Axis.of(symbols("A" * 64), "a")
    counts = density(axis, axis, 1, 16, False)
    assert counts.forward.max() == counts.top == 16
    forward, reverse = counts.levels(256)
    assert set(forward.ravel()) == {128}
    assert set(reverse.ravel()) == {0}
    assert set(counts.levels(16)[0].ravel()) == set(counts.levels(2)[0].ravel()) == {255}


def test_colours() -> None:
    assert scale((0, 0, 0), (1, 0, 0), count=2).tolist() == [[0, 0, 0], [255, 255, 255]]
    assert scale((0.12, 0, 0), count=1).tolist() == [[6, 6, 6]]
    for theme in (LIGHT, DARK):
        none, much = np.zeros((1, 1), np.uint8), np.full((1, 1), 255, np.uint8)
        assert blended(theme, none, none)[0, 0].tolist() == [int(theme.paper[i : i + 2], 16) for i in (1, 3, 5)]
        assert blended(theme, much, none)[0, 0].tolist() == theme.forward[255].tolist()
        assert blended(theme, none, much)[0, 0].tolist() == theme.reverse[255].tolist()


def walked(query: str, target: str, cigar: str, windows: int, *, reverse=False, literal=False):
    parts = path_windows(
        symbols(query), symbols(target), cigars.from_text(cigar), reverse=reverse, literal=literal, windows=windows
    )
    return [part.tolist() for part in parts]


def test_windows_of_a_path() -> None:
    assert walked("ACGT", "ACGT", "4=", 2) == [[0, 2, 4], [0, 2, 4], [2, 2], [2, 2]]
    assert walked("ACGTAA", "AC", "2=4I", 2) == [[0, 2, 6], [0, 2, 2], [2, 0], [2, 4]]
    assert walked("AC", "ACGTAA", "2S1H2=4D", 2) == [[0, 2, 2], [0, 2, 6], [2, 0], [2, 4]]
    assert walked("ACGT", "AGGT", "4M", 1) == walked("ACGT", "AGGT", "1=1X2=", 1) == [[0, 4], [0, 4], [3], [4]]
    assert walked("", "", "*", 3) == [[0] * 4, [0] * 4, [0] * 3, [0] * 3]
    assert walked("A", "A", "1=", 4) == [[0, 1, 1, 1, 1], [0, 1, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0]]


@pytest.mark.parametrize("windows", [1, 2, 3, 7, 50, 1000])
def test_windows_have_each_column_once(windows: int) -> None:
    lengths = random.Random(windows)
    text = "".join(f"{lengths.randint(1, 40)}{operation}" for operation in "=XID=IX=D=" * 5)
    cigar = cigars.from_text(text)
    q_len, t_len = cigars.spans(cigar)
    query, target, matches, columns = walked("A" * q_len, "A" * t_len, text, windows)
    assert len(matches) == len(columns) == len(query) - 1 == len(target) - 1 == windows
    assert (query[0], target[0], query[-1], target[-1]) == (0, 0, q_len, t_len)
    assert query == sorted(query)
    assert target == sorted(target)
    assert sum(matches) == cigars.operation_length(cigar, "=")
    assert sum(columns) == sum(cigars.operation_length(cigar, operation) for operation in "=XID")
    # A border lies after the column in which it falls.
    for border in range(windows + 1):
        assert query[border] + target[border] - (q_len + t_len) * border // windows in (0, 1)


def test_m_is_told_by_the_symbols() -> None:
    target = "acgtNACU"
    assert walked("ACGTNACT", target, "8M", 1)[2] == [7]  # N matches nothing; U is T
    assert walked(reverse_complement("ACGTNACT"), target, "8M", 1, reverse=True)[2] == [7]
    assert walked("ACGTNACT", target, "8M", 1, literal=True)[2] == [3]


@pytest.mark.parametrize("cigar", ["3=", "5=", "4=1I", "4=1D", "*", "4="])
def test_paths_of_other_sequences(cigar: str) -> None:
    if cigar == "4=":
        assert walked("ACGT", "ACGT", cigar, 2)
        return
    with pytest.raises(ValueError, match="path has"):
        walked("ACGT", "ACGT", cigar, 2)


def axes() -> tuple[Axis, Axis]:
    query, target = some(100, 8), some(120, 9)
    several = Axis("both", symbols(query), ("a", "b"), starts(40, 60))
    return several, Axis("t", symbols(target), ("c", "d"), starts(70, 50))


def read(tmp_path: Path, text: str) -> list[Block]:
    (tmp_path / "path").write_text(text)
    return read_blocks(str(tmp_path / "path"), *axes())


def paf(query="b", begin=0, strand="+", length=60, target="d", t_length=50, tag="\tcg:Z:20=10I30="):
    return f"{query}\t{length}\t{begin}\t60\t{strand}\t{target}\t{t_length}\t0\t50\t45\t60\t60\ttp:A:P{tag}\n"


def test_paf(tmp_path: Path) -> None:
    (block,) = read(tmp_path, paf())
    assert (block.query, block.target, block.reverse, block.identity) == ((40, 100), (70, 120), False, 0.75)
    (line,) = lines_of([block], *axes(), 5, False)
    assert (line.query[0], line.query[-1], line.target[0], line.target[-1]) == (40, 100, 70, 120)
    assert line.columns.sum() == 60
    (line,) = lines_of(read(tmp_path, paf(strand="-")), *axes(), 5, False)
    assert (line.query[0], line.query[-1], line.target[0], line.target[-1]) == (100, 40, 70, 120)
    assert line.query[1] == 89  # from the end: a fifth of 110 bases, in steps of two columns


def test_paf_without_a_cigar(tmp_path: Path) -> None:
    (line,) = lines_of(read(tmp_path, paf(strand="-", tag="")), *axes(), 5, False)
    assert (line.query.tolist(), line.target.tolist(), line.identity.tolist()) == ([100, 40], [70, 120], [0.75])
    unknown = picture_of(*axes(), [Block((0, 40), (0, 70))])
    assert unknown.identity is None
    assert b'"identity":[null]' in page(unknown)


def test_sam(tmp_path: Path) -> None:
    text = "@HD\tVN:1.6\nb\t{}\td\t11\t60\t5S2H20=10I15=3D8S\t*\t0\t0\t*\t*\nb\t4\td\t1\t0\t9=\t*\t0\t0\t*\t*\n"
    (block,) = read(tmp_path, text.format(0))
    assert (block.query, block.target) == ((47, 92), (80, 118))
    assert cigars.to_text(block.cigar) == "20=10I15=3D"
    (block,) = read(tmp_path, text.format(16))
    assert (block.query, block.target, block.reverse) == ((48, 93), (80, 118), True)
    assert lines_of([block], *axes(), 5, False)[0].columns.sum() == 48


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no alignments"),
        ("@HD\tVN:1.6\n", "has no alignments"),
        ("b\t1\n", "line 1: is not an alignment"),
        (paf() + "nonsense\n", "line 2: is not an alignment"),
        (paf(length=61), "record b: is of other sequences: 61 symbols here, 60 in the input"),
        (paf(t_length=49), "record d: is of other sequences"),
        (paf(query="B"), "but B to d and the like"),
        (paf(begin=61), "line 1: is not an alignment"),
        (paf(tag="\tcg:Z:20Q"), "line 1: is not an alignment"),
        (paf(strand="?"), "line 1: is not an alignment"),
        ("b\t0\td\t40\t60\t20=\t*\t0\t0\t*\t*\n", "record b: is of other sequences: the alignment is longer"),
    ],
)
def test_files_that_are_no_path(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, text)


def test_a_path_that_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ab.paf, line 1: the path has fewer symbols than the sequences"):
        lines_of(read(tmp_path, paf(tag="\tcg:Z:20=")), *axes(), 5, False, "ab.paf")


def test_alignments_elsewhere_are_left_out(tmp_path: Path) -> None:
    assert len(read(tmp_path, paf(target="e", t_length=7) + paf() + paf(query="x"))) == 1


def test_records(tmp_path: Path) -> None:
    path = tmp_path / "r.fa"
    path.write_text(">a\nACGT\nAC\n>b x\n>c\nggg\n>a\nACGTAC\n")
    every = read_records(str(path))
    assert every.names == ("a", "b", "c", "a")
    assert every.starts.tolist() == [0, 6, 6, 9, 15]
    assert every.symbols.tobytes() == b"ACGTACgggACGTAC"
    assert every.title == "r.fa, 4 records"
    assert read_records(str(path), ["a"]).symbols.tobytes() == b"ACGTAC"  # both records are the same
    chosen = read_records(str(path), ["c"], fold=True)
    assert (chosen.title, chosen.symbols.tobytes()) == ("c", b"GGG")
    with pytest.raises(InputError, match=r"r.fa: no record is named d; there are a, b, c"):
        read_records(str(path), ["d"])
    path.write_text(">a\nACGT\n>a\nACGA\n")
    with pytest.raises(InputError, match=r"r.fa, record a: two different records have this name"):
        read_records(str(path), ["a"])


def test_identity_of_a_picture() -> None:
    query, target = (Axis.of(symbols("A" * 50), name) for name in "qt")
    plain = picture_of(query, target)
    assert (plain.identity, plain.min_identity) == (None, 0.95)
    block = Block((0, 50), (0, 50), cigar=cigars.from_text("25=25X"))
    drawn = picture_of(query, target, [block])
    assert (drawn.identity, drawn.min_identity) == (0.5, 0.0)
    assert "50.00% identity" in drawn.caption
