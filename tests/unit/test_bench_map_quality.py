"""bench/map_quality: donor coordinates, scores from CIGARs, and structural variants in single reads."""

import json

import numpy as np
import pytest

from bench.harness import saving, table
from bench.map_quality import calls, donor, genome, measure, records, simulate
from bench.map_quality.donor import DELETION, DUPLICATION, INSERTION, INVERSION, SNV, Variant
from bench.tables import map_quality
from wfacli.config import Penalties

ONT = Penalties(4, ((4, 2), (24, 1)), 2)


def reference(*sequences):
    starts = np.cumsum([0, *map(len, sequences)])
    names = tuple(f"s{n}" for n in range(len(sequences)))
    return genome.Genome(names, starts, np.frombuffer("".join(sequences).encode(), np.uint8).copy())


def random_reference(length, seed=1):
    return genome.random_genome(length, np.random.default_rng(seed))


def text(bases):
    return bytes(bases).decode()


def places(codes):
    """Positions with + or -, and None for inserted bases."""
    return [None if code < 0 else f"{code >> 1}{'-' if code & 1 else '+'}" for code in codes.tolist()]


def test_positions_through_each_kind_of_variant():
    whole = reference("AACCGGTTAC", "GATTACA")
    made = donor.edited(
        whole,
        [
            Variant(2, 2, b"", DELETION, 2, 2),
            Variant(5, 0, b"TTT", INSERTION, 5, 5),
            Variant(6, 3, b"TAA", INVERSION, 6, 6),
            Variant(11, 1, b"C", SNV, 11, 11),
            Variant(14, 0, b"TA", DUPLICATION, 14, 14),
        ],
    )
    assert text(made.bases[: made.starts[1]]) == "AAG" + "TTT" + "G" + "TAA" + "C"
    assert places(made.codes[: made.starts[1]]) == [
        *("0+", "1+", "4+", None, None, None, "5+"),
        *("8-", "7-", "6-", "9+"),
    ]
    assert text(made.bases[made.starts[1] :]) == "GCTT" + "TA" + "ACA"
    assert places(made.codes[made.starts[1] :]) == [
        *("10+", "11+", "12+", "13+"),
        *("12+", "13+", "14+", "15+", "16+"),
    ]
    assert made.places.tolist() == [[2, 2], [3, 6], [7, 10], [12, 13], [15, 17]]


def test_each_base_of_a_donor_is_the_one_at_its_place():
    rng = np.random.default_rng(3)
    whole = random_reference(60_000)
    made = donor.make_donor(whole, rng, 1e-3, 1e-3, 5_000)
    assert {one.kind for one in made.variants} >= {SNV, DELETION, INSERTION, INVERSION}
    known = np.flatnonzero(made.codes >= 0)
    there = whole.bases[made.codes[known] >> 1]
    expected = np.where(made.codes[known] & 1, genome.COMPLEMENT[there], there)
    snvs = sum(one.kind == SNV for one in made.variants)
    assert (made.bases[known] != expected).sum() == snvs > 30


def test_an_indel_has_all_its_equivalent_places():
    whole = reference("GGTCACACATT")
    assert donor.small_variant(whole, 6, 2, b"") == Variant(3, 2, b"", DELETION, 3, 7)
    assert donor.small_variant(whole, 9, 0, b"CA") == Variant(3, 0, b"CA", INSERTION, 3, 9)
    assert donor.small_variant(whole, 8, 0, b"AC").inserted == b"CA"
    assert donor.vcf_key(whole, donor.small_variant(whole, 6, 2, b"")) == (2, "TCA", "T")
    assert donor.vcf_key(whole, donor.small_variant(whole, 9, 0, b"CA")) == (2, "T", "TCA")


@pytest.mark.parametrize("preset", ["map-ont", "sr", "map-pb"])
def test_reads_have_the_bases_of_their_places(preset):
    rng = np.random.default_rng(5)
    whole = random_reference(50_000)
    made = donor.edited(whole, [])
    how = simulate.TECHNOLOGIES[preset]
    reads = simulate.simulated(made, how, 2, rng)
    known = np.flatnonzero(reads.codes >= 0)
    there = whole.bases[reads.codes[known] >> 1]
    same = np.where(reads.codes[known] & 1, genome.COMPLEMENT[there], there) == reads.bases[known]
    assert how.errors[0] * how.kinds[0] * 0.5 < 1 - same.mean() < how.errors[1] * how.kinds[0] * 1.5
    assert {0, 1} == set((reads.codes[known] & 1).tolist())
    assert len(np.unique(reads.part_read)) == len(reads)
    if preset == "sr":
        begins = reads.parts[:, 0]
        assert np.abs(begins[0::2] - begins[1::2]).max() < 600 and reads.name(4) == reads.name(5) == "r2"


def test_a_score_counts_each_gap_by_its_cheapest_piece():
    assert records.path_score(10, 2, [], ONT) == 12
    assert records.path_score(100, 0, [1, 20, 21, 300], ONT) == 200 - 6 - 44 - 45 - 324


def sam(path, whole, lines):
    pysam = pytest.importorskip("pysam")
    header = pysam.AlignmentHeader.from_dict({"SQ": [{"SN": whole.names[0], "LN": len(whole.bases)}]})
    with pysam.AlignmentFile(str(path), "wb", header=header) as file:
        for line in lines:
            file.write(pysam.AlignedSegment.fromstring("\t".join(map(str, line)), header))
    return path


def reads_of(whole, *parts):
    """Reads without errors of (begin, end, reverse) of a reference that is its own donor."""
    made = donor.edited(whole, [])
    columns = np.array(parts, np.int64)
    rows = simulate._Parts(np.arange(len(parts)), columns[:, 0], columns[:, 1], columns[:, 2].astype(bool))
    some = [simulate._part_of(made, rows, row) for row in range(len(parts))]
    starts = np.cumsum([0, *(end - begin for begin, end, _ in parts)])
    bases, codes = (np.concatenate(column) for column in zip(*some, strict=True))
    return simulate.Reads(starts, bases, codes, np.arange(len(parts)), columns[:, :2], False)


def test_records_are_scored_and_compared_with_the_truth(tmp_path):
    whole = random_reference(5_000)
    reads = reads_of(whole, (100, 300, False), (1_000, 1_300, True), (2_000, 2_100, False))
    lines = [
        ("r0", 0, "random", 101, 60, "150=50S", "*", 0, 0, "*", "*", "AS:i:300"),
        ("r0", 2048, "random", 251, 60, "150H50M", "*", 0, 0, "*", "*", "AS:i:99"),
        ("r1", 16, "random", 1001, 60, "100M60D200M", "*", 0, 0, "*", "*", "AS:i:1"),
        ("r2", 4, "*", 0, 0, "*", "*", 0, 0, "*", "*"),
    ]
    found = records.Measured(whole, reads, ONT).read(sam(tmp_path / "a.bam", whole, lines))
    columns = found.records
    assert columns.score[:2].tolist() == [300, 100] and columns.tag.tolist() == [300, 99, 1]
    assert list(zip(columns.first.tolist(), columns.last.tolist(), strict=True)) == [(0, 150), (150, 200), (0, 300)]
    assert found.gaps == [records.Gap(1, True, 1_100, 60)]
    assert found.right[:200].all() and found.right[200:500].tolist() == [False] * 200 + [True] * 100
    assert measure.placed(columns, reads).tolist() == [True, True, False]
    report = measure.figures(found, reads, donor.edited(whole, []), {})
    assert report["mapped"] == 2 and report["placed"] == 1 and report["misplaced_sure"] == 1
    assert report["clipped_bases"] == 0 and report["whole_reads"] == 1 and report["tags_that_differ"] == 2
    assert report["right_bases"] == round(300 / 600, 6) and report["wrong_bases"] == round(200 / 600, 6)
    assert report["primary"] == 2 and report["supplementary"] == 1 and report["false_large_gaps"] == 1


def test_scores_are_compared_where_records_start_alike(tmp_path):
    whole = random_reference(5_000)
    reads = reads_of(whole, (100, 300, False), (1_000, 1_300, False), (2_000, 2_100, False))
    names = ((0, "200M", 101), (1, "300M", 1001), (2, "100M", 2001))
    first = [(f"r{n}", 0, "random", at, 60, cigar, "*", 0, 0, "*", "*") for n, cigar, at in names]
    second = [(*first[0][:5], "190M10S", *first[0][6:]), (*first[1][:3], 1201, *first[1][4:])]
    a, b = (
        records.Measured(whole, reads, ONT).read(sam(tmp_path / f"{n}.bam", whole, lines)).records
        for n, lines in (("a", first), ("b", second))
    )
    report, gains = measure.compared(a, b, len(reads))
    assert report["higher"] == 1 and report["other_start"] == 1 and report["only_wfacli"] == 1
    assert gains.tolist() == [[0, 20]] and report["sum_of_gains"] == 20
    # The end bonus is for the end that only the first record reaches.
    assert measure.compared(a, b, len(reads), 7)[1].tolist() == [[0, 27]]


def test_records_that_share_bases_of_a_read(tmp_path):
    whole = random_reference(5_000)
    reads = reads_of(whole, (100, 300, False), (1_000, 1_300, False))
    parts = ((0, 0, 101, "150M50S"), (0, 2048, 3001, "140S60M"), (1, 0, 1001, "200M100S"), (1, 2064, 3001, "100M200S"))
    lines = [(f"r{n}", flag, "random", at, 60, cigar, "*", 0, 0, "*", "*") for n, flag, at, cigar in parts]
    long = records.Measured(whole, reads, ONT).read(sam(tmp_path / "long.bam", whole, lines)).records
    assert measure.shared_bases(long).tolist() == [True, True, False, False]
    cut = [(*line[:5], {"150M50S": "140M60S"}.get(line[5], line[5]), *line[6:]) for line in lines]
    short = records.Measured(whole, reads, ONT).read(sam(tmp_path / "short.bam", whole, cut)).records
    assert not measure.shared_bases(short).any()
    report = measure.compared(short, long, len(reads))[0]
    assert (report["lower"], report["lower_with_shared_bases"], report["lower_in_all"]) == (1, 1, 1)
    # A lower primary score is made up for by another record.
    place = {"150M50S": (101, "140M60S"), "140S60M": (241, "140S60M")}
    parted = [(*line[:3], place[line[5]][0], line[4], place[line[5]][1], *line[6:]) for line in lines[:2]]
    both, alone = (
        records.Measured(whole, reads, ONT).read(sam(tmp_path / f"{name}.bam", whole, some)).records
        for name, some in (("both", parted), ("alone", lines[:1]))
    )
    report = measure.compared(both, alone, len(reads))[0]
    assert (report["lower"], report["lower_in_all"]) == (1, 0)


@pytest.mark.parametrize(
    ("gap", "found"),
    [
        ((True, 100, 500), True),
        ((True, 85, 455), True),
        ((True, 160, 545), True),
        ((True, 161, 500), False),
        ((True, 100, 449), False),
        ((False, 100, 500), False),
    ],
)
def test_a_structural_variant_matches_at_its_equivalent_places(gap, found):
    deletes, position, size = gap
    one = Variant(120, 500, b"", DELETION, 100, 140)
    assert measure.matches(records.Gap(0, deletes, position, size), one) is found


def test_a_read_spans_a_variant_with_its_flanks():
    whole = random_reference(20_000)
    insertion = Variant(5_000, 0, b"A" * 300, INSERTION, 5_000, 5_000)
    deletion = Variant(9_000, 400, b"", DELETION, 9_000, 9_000)
    made = donor.edited(whole, [insertion, deletion, Variant(15_000, 100, b"C" * 100, INVERSION, 15_000, 15_000)])
    assert made.places[1].tolist() == [9_300, 9_300]
    reads = reads_of(whole, (4_500, 5_800, False), (4_501, 5_800, False), (8_000, 9_800, True), (4_000, 16_000, True))
    wanted = measure.spanned(made, reads, 500)
    assert wanted == {0: [insertion], 2: [deletion], 3: [insertion, deletion]}
    gaps = [records.Gap(0, False, 5_010, 290), records.Gap(3, True, 8_990, 401), records.Gap(1, False, 5_000, 300)]
    assert measure.variants_found(gaps, wanted) == {(0, 5_000), (3, 9_000)}
    assert measure.false_gaps([*gaps, records.Gap(0, True, 5_000, 300), records.Gap(0, True, 1, 49)], made) == 1


def test_calls_are_compared_by_allele(tmp_path):
    whole = reference("GGTCACACATTGCA")
    variants = [donor.small_variant(whole, 6, 2, b""), Variant(11, 1, b"T", SNV, 11, 11)]
    made = donor.edited(whole, variants)
    vcf = tmp_path / "a.vcf"
    vcf.write_text("##x\n#CHROM\ns0\t3\t.\tTCA\tT\t9\ns0\t12\t.\tG\tA\t9\n")
    report = calls.compared(calls.keys_of(vcf, whole), whole, made, False)
    assert report["indel"] | {"precision": 1.0, "recall": 1.0, "true": 1} == report["indel"]
    assert report["snv"]["wrong"] == report["snv"]["missed"] == 1 and report["snv"]["recall"] == 0.0
    assert "indel" not in calls.compared(set(), whole, made, True)


def test_the_table_of_a_row(monkeypatch, tmp_path, capsys):
    pytest.importorskip("pysam")
    if any(not map_quality.shutil.which(name) for name in map_quality.NEEDED):
        pytest.skip("needs minimap2, samtools and bcftools")
    monkeypatch.setattr(saving, "RESULTS", tmp_path)
    monkeypatch.setattr(map_quality, "SV_EVERY", 10_000)
    map_quality.main(["--rows", "map-hifi", "--length", "60000", "--share", "0.4", "--threads", "1", "--save"])
    (path,) = tmp_path.glob("*-map-quality-part.json")
    (row,) = json.loads(path.read_text())["rows"]
    for program in map_quality.PROGRAMS:
        one = row[program]
        assert one["mapped"] == row["reads"] and one["right_bases"] > 0.8 and one["wrong_bases"] < 0.05
        assert one["calls"]["snv"]["recall"] > 0.3 and one["cpu_seconds"] > 0
    scores = row["scores"]
    assert scores["lower"] + scores["equal"] + scores["higher"] + scores["other_start"] == row["reads"]
    assert "placed within 10 bp" in capsys.readouterr().out + capsys.readouterr().err


def test_a_program_that_fails_leaves_its_row_out():
    with pytest.raises(table.LeftOut, match="x ended with status 3: why"):
        map_quality.run("x", ["sh", "-c", "echo first >&2; echo why >&2; exit 3"])
