"""Compare SAM, PAF and TSV records with other readers and with the sequences."""

import re
import shutil
import subprocess

import numpy as np
import pysam
import pytest

from tests import oracles, pairgen
from tests.engines.agreement import align_batch
from tests.unit.reading import AT_ONCE
from wfacli.config import AlignSpec, Ambiguous, CigarStyle, Config, Format, Limits, OutputSpec
from wfacli.core.batch import AlignmentBatch, Status
from wfacli.core.stats import Stats
from wfacli.engines.cpu import CpuEngine
from wfacli.errors import InputError
from wfacli.io.read.memory import pairs_of
from wfacli.io.read.names import with_sam_names
from wfacli.io.read.reader import PairFiles, read_batches
from wfacli.io.write.format import Formatter

EVERYTHING = {"md": True, "cs": True}


def aligned(batch, rule="mismatch"):
    spec = AlignSpec(ambiguous=Ambiguous(rule))
    engine = CpuEngine(spec, Limits(), 1)
    try:
        return align_batch(engine, batch, spec, Limits(), Stats())
    finally:
        engine.close()


def written(pairs, fmt, rule="mismatch", batch=None, **options):
    """Return (lines split at tabs, sums) of pairs in a format."""
    batch = pairs_of(*zip(*pairs, strict=True)) if batch is None else batch
    spec = AlignSpec(ambiguous=Ambiguous(rule))
    formatter = Formatter.of(Config(spec=spec, output=OutputSpec(format=Format(fmt), **options)))
    text, sums = formatter.format(batch, aligned(batch, rule))
    lines = text.tobytes().decode().split("\n")
    assert lines.pop() == ""
    return [line.split("\t") for line in lines], sums


def tags(fields):
    return {field[:2]: field[5:] for field in fields}


def columns(query, target, cigar):
    """Yield (query symbol or "", target symbol or "") of each alignment column."""
    i = j = 0
    for length, operation in oracles.runs_of(cigar):
        for _ in range(length):
            yield chr(query[i]) if operation != "D" else "", chr(target[j]) if operation != "I" else ""
            i, j = i + (operation != "D"), j + (operation != "I")


def nm_and_md(query, target, cigar):
    """Return both tags, computed from the alignment columns."""
    edits, run, text, deleting = 0, 0, "", False
    for q, t in columns(query, target, cigar):
        same = bool(q and t) and oracles.equal_by_sam(ord(q), ord(t))
        edits += not same
        if same:
            run += 1
        elif t and q:
            text, run = f"{text}{run}{t.upper()}", 0
        elif t:
            text, run = f"{text}{'' if deleting else f'{run}^'}{t.upper()}", 0
        deleting = bool(t and not q) or (deleting and not t)
    return edits, f"{text}{run}"


def target_by_cs(query, cs):
    """Return the target that a cs string makes of the query."""
    out, i, pieces = "", 0, re.findall(r":(\d+)|\*(.)(.)|\+([^:*+-]+)|-([^:*+-]+)", cs)
    assert "".join(f":{n}" if n else f"*{t}{q}" if t else f"+{a}" if a else f"-{b}" for n, t, q, a, b in pieces) == cs
    for same, was, now, inserted, deleted in pieces:
        if same:
            out += query[i : i + int(same)]
            i += int(same)
        elif was:
            assert query[i] == now
            out, i = out + was, i + 1
        elif inserted:
            assert query[i : i + len(inserted)] == inserted
            i += len(inserted)
        else:
            out += deleted
    assert i == len(query)
    return out


@pytest.fixture(scope="module", params=["ACGT", "ACGTN", "iupac", "mixed"])
def pairs(request):
    some = pairgen.random_pairs(6, 150, 50, pairgen.ALPHABETS[request.param])
    return [p for p in some if p[0] and p[1]]


@pytest.mark.parametrize("rule", ["mismatch", "wildcard"])
def test_sam_agrees_with_the_sequences(pairs, rule):
    records, sums = written(pairs, "sam", rule, **EVERYTHING)
    alignments = aligned(pairs_of(*zip(*pairs, strict=True)), rule)
    for i, ((query, target), fields) in enumerate(zip(pairs, records, strict=True)):
        name = f"pair{i + 1}"
        assert fields[:5] == [name, "0", name, "1", "255"] and fields[6:9] == ["*", "0", "0"]
        assert fields[9:11] == [query.decode(), "*"]
        oracles.replay(query, target, fields[5])  # = and X follow SAM, whichever symbols match for the score
        nm, md = nm_and_md(query, target, fields[5])
        tag = tags(fields[11:])
        assert list(tag) == ["NM", "AS", "MD", "cs"]
        assert (int(tag["NM"]), tag["MD"], int(tag["AS"])) == (nm, md, alignments.score[i])
        # cs has no symbols of matches, so it does not preserve the target's case, or U and T.
        expected = "".join((q if oracles.equal_by_sam(ord(q or "-"), ord(t or "-")) else t).lower()
                           for q, t in columns(query, target, fields[5]))  # fmt: skip
        assert target_by_cs(query.decode().lower(), tag["cs"]) == expected
    assert sums["aligned"] == len(pairs)
    assert sums["mismatches"] + sums["inserted"] + sums["deleted"] == sum(int(tags(r[11:])["NM"]) for r in records)
    assert sums["query_bases"] == sum(len(q) for q, _ in pairs)


def test_wildcards_score_as_matches_and_are_written_by_sam_s_rule():
    (fields,), _ = written([(b"ACNTRA", b"ACGTAA")], "sam", "wildcard", **EVERYTHING)
    assert fields[5] == "2=1X1=1X1="
    assert tags(fields[11:]) == {"NM": "2", "AS": "0", "MD": "2G1A1", "cs": ":2*gn:1*ar:1"}
    (fields,), _ = written([(b"ACNTRA", b"ACGTAA")], "tsv", "wildcard")
    assert fields[2:] == ["0", "2", "0.666667", "0", "6", "0", "6", "2=1X1=1X1="]


def test_m_joins_what_is_aligned():
    example = [(b"ACGTTGCA", b"ACCTGCA")]
    (eqx,), _ = written(example, "sam")
    (m,), _ = written(example, "sam", cigar=CigarStyle.M, **EVERYTHING)
    assert eqx[5] == "2=1I1X4=" and m[5] == "2M1I5M"
    assert tags(m[11:])["MD"] == "2C4"


def sam_file(folder, pairs, lines):
    """Write a SAM file with a header, and the FASTA file of its targets; return both paths."""
    header = [f"@SQ\tSN:pair{i + 1}\tLN:{len(t)}" for i, (_, t) in enumerate(pairs)]
    path, reference = folder / "out.sam", folder / "targets.fa"
    path.write_text("\n".join(["@HD\tVN:1.6", *header, *("\t".join(fields) for fields in lines), ""]))
    reference.write_text("".join(f">pair{i + 1}\n{t.decode()}\n" for i, (_, t) in enumerate(pairs)))
    return path, reference


def test_pysam_reads_it(tmp_path, pairs):
    lines, _ = written(pairs, "sam", read_group="@RG\tID:run1", **EVERYTHING)
    path, _ = sam_file(tmp_path, pairs, lines)
    with pysam.AlignmentFile(path) as sam:
        found = list(sam)
    assert len(found) == len(pairs)
    for record, (query, target) in zip(found, pairs, strict=True):
        assert not record.is_unmapped and record.reference_start == 0
        assert record.reference_end == len(target) == record.reference_length
        assert record.infer_query_length() == len(query)
        assert record.get_tag("RG") == "run1"
        if not set(query + target) - set(b"ACGTacgtNn"):
            assert record.get_reference_sequence().upper() == target.decode().upper()


@pytest.mark.skipif(not shutil.which("samtools"), reason="samtools is not on PATH")
@pytest.mark.parametrize("style", CigarStyle)
@pytest.mark.parametrize("alphabet", [b"ACGT", b"ACGTacgtNn"])
def test_samtools_computes_the_same_tags(tmp_path, alphabet, style):
    pairs = [p for p in pairgen.random_pairs(9, 200, 60, alphabet) if p[0] and p[1]]
    lines, _ = written(pairs, "sam", cigar=style, md=True)
    path, reference = sam_file(tmp_path, pairs, [[*f[:11], *(t for t in f[11:] if t[:2] == "AS")] for f in lines])
    done = subprocess.run(["samtools", "calmd", path, reference], capture_output=True, text=True, check=True)
    theirs = [tags(line.split("\t")[11:]) for line in done.stdout.splitlines() if line[0] != "@"]
    assert theirs == [tags(fields[11:]) for fields in lines]


def test_paf(pairs):
    lines, _ = written(pairs, "paf", **EVERYTHING)
    sam, _ = written(pairs, "sam", **EVERYTHING)
    for i, ((query, target), fields, same) in enumerate(zip(pairs, lines, sam, strict=True)):
        n, m, name = str(len(query)), str(len(target)), f"pair{i + 1}"
        assert fields[:9] == [name, n, "0", n, "+", name, m, "0", m]
        tag, cigar = tags(fields[12:]), same[5]
        both = list(columns(query, target, cigar))
        matches = sum(bool(q and t) and oracles.equal_by_sam(ord(q), ord(t)) for q, t in both)
        assert fields[9:12] == [str(matches), str(len(both)), "255"]
        assert tag["cg"] == cigar and tag["tp"] == "P"
        assert {k: tag[k] for k in ("NM", "AS", "MD", "cs")} == tags(same[11:])
        events = sum(n if op in "=X" else 1 for n, op in oracles.runs_of(cigar))
        assert float(tag["de"]) == pytest.approx(1 - matches / events, abs=5.1e-5)


def test_tsv(pairs):
    lines, _ = written(pairs, "tsv")
    for i, ((query, target), fields) in enumerate(zip(pairs, lines, strict=True)):
        assert fields[:2] == [f"pair{i + 1}"] * 2
        assert fields[5:9] == ["0", str(len(query)), "0", str(len(target))]
        cigar = fields[9]
        oracles.replay(query, target, cigar)
        assert -int(fields[2]) == oracles.cigar_cost(cigar, (4, 6, 2))
        assert int(fields[3]) == oracles.cigar_cost(cigar, oracles.EDIT)
        total = sum(n for n, _ in oracles.runs_of(cigar))
        assert float(fields[4]) == pytest.approx(1 - int(fields[3]) / total, abs=5.1e-7)


def test_empty_sequences():
    pairs = [(b"", b"ACG"), (b"ACG", b""), (b"", b"")]
    sam, _ = written(pairs, "sam", **EVERYTHING)
    assert [fields[1:] for fields in sam] == [
        ["4", "*", "0", "0", "*", "*", "0", "0", "*", "*"],
        ["4", "*", "0", "0", "*", "*", "0", "0", "ACG", "*"],
        ["4", "*", "0", "0", "*", "*", "0", "0", "*", "*"],
    ]
    paf, _ = written(pairs, "paf")
    assert [(f[1], f[6], f[9], f[10], tags(f[12:])["cg"]) for f in paf[:2]] == [
        ("0", "3", "0", "3", "3D"), ("3", "0", "0", "3", "3I"),
    ]  # fmt: skip
    tsv, _ = written(pairs, "tsv")
    assert [" ".join(f[2:]) for f in tsv] == [
        "-12 3 0.000000 0 0 0 3 3D", "-12 3 0.000000 0 3 0 0 3I", "0 0 nan 0 0 0 0 *",
    ]  # fmt: skip


def test_a_pair_without_alignment():
    batch = pairs_of([b"ACG"], [b"ACGT"])
    none = AlignmentBatch(
        0, np.array([Status.MEMORY_LIMIT], np.uint8), np.zeros(1, np.uint8), np.zeros(1, np.int32),
        np.zeros((1, 4), np.int32), np.zeros(0, np.uint32), np.zeros(2, np.int64), np.zeros(1, np.uint8), ("kernel",),
    )  # fmt: skip
    expected = {
        "sam": "pair1\t4\t*\t0\t0\t*\t*\t0\t0\tACG\t*\n",
        "paf": "pair1\t3\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\n",
        "tsv": "pair1\tpair1\t*\t*\t*\t*\t*\t*\t*\t*\n",
    }
    for fmt, line in expected.items():
        text, sums = Formatter.of(Config(output=OutputSpec(format=Format(fmt), **EVERYTHING))).format(batch, none)
        assert text.tobytes().decode() == line
        assert sums["aligned"] == 0


def test_names_and_qualities(tmp_path):
    (tmp_path / "q").write_text("@r1 comment\nACgt\n+\nI!~@\n@\nAC\n+\nII\n")
    (tmp_path / "t").write_text(">chr1\nACGT\n>x\nAC\n")
    sources = PairFiles(str(tmp_path / "q"), str(tmp_path / "t")).open()
    (batch,) = read_batches(sources, "two", AT_ONCE)
    lines, _ = written(None, "sam", batch=batch, read_group="@RG\tID:a\tSM:b")
    assert [f[0] for f in lines] == ["r1", "*"]
    assert [f[2] for f in lines] == ["chr1", "x"]
    assert lines[0][9:] == ["ACgt", "I!~@", "NM:i:0", "AS:i:0", "RG:Z:a"]


def test_names_too_long_for_sam(tmp_path):
    for length, fine in ((254, True), (255, False)):
        (tmp_path / "q").write_text(f">{'n' * length}\nAC\n")
        (tmp_path / "t").write_text(f">{'m' * 300}\nAC\n")
        batches = list(read_batches(PairFiles(str(tmp_path / "q"), str(tmp_path / "t")).open(), "two", AT_ONCE))
        assert written(None, "paf", batch=batches[0])
        checked = with_sam_names(iter(batches), "q", "t")
        if fine:
            assert written(None, "sam", batch=next(checked))
        else:
            with pytest.raises(InputError, match="254"):
                next(checked)


def test_pairs_before_a_name_that_sam_refuses_are_kept(tmp_path):
    for refused in ("@x", "n" * 255):
        (tmp_path / "q").write_text(f">a\nAC\n>\nACC\n>{refused}\nA\n>b\nC\n")
        (tmp_path / "t").write_text(">a\nAC\n>c\nACC\n>d\nA\n>e\nC\n")
        batches = read_batches(PairFiles(str(tmp_path / "q"), str(tmp_path / "t")).open(), "two", AT_ONCE)
        checked = with_sam_names(batches, "q", "t")
        lines, _ = written(None, "paf", batch=next(checked))
        assert [line[0] for line in lines] == ["a", "*"]
        with pytest.raises(InputError, match=refused):
            next(checked)
