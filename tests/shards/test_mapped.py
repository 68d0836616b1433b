"""Reads against a reference in shards: the bytes of one machine's run, whatever the files of mappings are."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path

import pysam
import pytest

from tests.cli.support import assert_failure, bgzf, run
from tests.mapped.world import World, random_world
from tests.thorough import in_turn

from .support import in_shards, on_one_machine

FORMS = {
    "sam": ["--format", "sam"],
    "paf": ["--format", "paf"],
    "tsv": ["--format", "tsv", "--span", "mapped"],
    "bam": ["--format", "bam", "--batch-bases", "2500"],
    "sorted bam": ["--format", "bam", "--sort"],
    "sorted bam with unmapped reads": ["--format", "bam", "--sort", "--keep-unmapped"],
}


def write_world(rng: random.Random, folder: Path, reads: int = 250) -> World:
    """Write reads.fq (perhaps as BGZF under the same name), ref.fa and map.paf, map.sam and map.bam."""
    world = random_world(rng.randrange(1 << 30), reads)
    world.write(folder)
    for name in ("reads.fq", "map.paf"):
        if rng.random() < 0.5:
            (folder / name).write_bytes(bgzf((folder / name).read_bytes(), rng.choice((100, 5000))))
    (folder / "map.sam").write_text("@HD\tVN:1.6\n@RG\tID:a\tSM:b\n@PG\tID:mapper\n" + world.sam())
    with (
        pysam.AlignmentFile(str(folder / "map.sam")) as sam,
        pysam.AlignmentFile(str(folder / "map.bam"), "wb", template=sam) as bam,
    ):
        for record in sam:
            bam.write(record)
    return world


@pytest.mark.parametrize(
    ("form", "mappings"), in_turn(list(itertools.product(FORMS, ["map.paf", "map.sam", "map.bam"])), 2)
)
def test_reads_and_mappings(form, mappings, tmp_path):
    rng = random.Random(f"{form}{mappings}")
    write_world(rng, tmp_path)
    arguments = ["reads.fq", "ref.fa", "--mappings", mappings, *FORMS[form]]
    expected = on_one_machine(tmp_path, "align", arguments)
    assert in_shards(rng, tmp_path, "align", arguments, 4) == expected
    sizes = [part.stat().st_size for part in sorted((tmp_path / "run.plan.parts").glob("*.part"))]
    assert min(sizes) > 0, "no shard is empty"


def test_cuts_are_only_where_no_mapping_names_an_earlier_read(tmp_path):
    """Reads are in another order than mappings, within hundreds of them."""
    rng = random.Random(3)
    world = write_world(rng, tmp_path, 600)
    names = list(world.reads)
    groups = [names[at : at + 50] for at in range(0, len(names), 50)]
    for group in groups:
        rng.shuffle(group)
    world.write(tmp_path, [name for group in groups for name in group])
    arguments = ["reads.fq", "ref.fa", "--mappings", "map.paf", "--format", "sam"]
    expected = on_one_machine(tmp_path, "align", arguments)
    assert in_shards(rng, tmp_path, "align", arguments, 4) == expected
    table = run("plan", "--status", "run.plan", cwd=tmp_path)
    work = [float(line.split("\t")[3]) for line in table.text.splitlines()[1:]]
    assert max(work) < 0.6


def as_mates(world: World) -> None:
    """Make reads 2i and 2i + 1 of a world the mates of a pair, with names as in the files."""
    names = {f"read{i}": f"p{i // 2}/{i % 2 + 1}" for i in range(len(world.reads))}
    world.reads = {names[name]: read for name, read in world.reads.items()}
    world.rows = [replace(row, read=names[row.read]) for row in world.rows]


def mate_records(world: World, unmapped: bool = True) -> str:
    """Return SAM with the mappings of both mates of each pair; with `unmapped` a line for each mate without one."""
    lines = world.sam().splitlines(True)
    of: dict[str, list[str]] = {name: [] for name in world.reads}
    for line in lines:
        if line.startswith("@"):
            continue
        name, flags, *rest = line.split("\t")
        of[name].append("\t".join([name[:-2], str(int(flags) | 1 | (64 if name.endswith("1") else 128)), *rest]))
    for name, found in of.items():
        if not found and unmapped:
            found.append(f"{name[:-2]}\t{4 | 1 | (64 if name.endswith('1') else 128)}\t*\t0\t0\t*\t*\t0\t0\t*\t*\n")
    return "".join([line for line in lines if line.startswith("@")] + [line for one in of.values() for line in one])


@pytest.mark.parametrize("seed", range(8))
def test_both_mates_are_in_one_shard(seed, tmp_path):
    rng = random.Random(seed)
    world = random_world(seed, 200 if seed < 4 else 600)
    as_mates(world)
    world.write(tmp_path)
    if seed > 3:
        # Most second mates are unmapped, and have no line: the files of mates are not read at the same pace.
        number = {name: int(name[1:-2]) for name in world.reads}
        mapped = {name for name in world.reads if number[name] % (3 if name.endswith("1") else 9) == 0}
        world.rows = [row for row in world.rows if row.read in mapped]
    (tmp_path / "map.sam").write_text(mate_records(world, unmapped=seed < 4))
    reads = ["reads.fq"]
    if seed in (4, 6):  # mates of one name, which only the order tells apart
        text = [f"@{n[:-2]}\n{s}\n+\n{q}\n" for n, (s, q) in world.reads.items()]
        (tmp_path / "reads.fq").write_text("".join(text))
    if seed % 2:
        for mate in "12":
            text = [f"@{n}\n{s}\n+\n{q}\n" for n, (s, q) in world.reads.items() if n.endswith(mate)]
            (tmp_path / f"{mate}.fq").write_bytes(bgzf("".join(text).encode(), 3000))
        reads = ["1.fq", "--mates", "2.fq"]
    form = ["--format", "bam", "--sort", "--keep-unmapped"] if seed % 4 > 1 else ["--format", "sam"]
    arguments = [reads[0], "ref.fa", "--mappings", "map.sam", *reads[1:], *form]
    expected = on_one_machine(tmp_path, "align", arguments)
    assert in_shards(rng, tmp_path, "align", arguments, 4) == expected
    sizes = [part.stat().st_size for part in sorted((tmp_path / "run.plan.parts").glob("*.part"))]
    assert min(sizes) > 0 or seed > 3, "no shard is empty"


def test_an_indexed_reference_and_checksums(tmp_path):
    rng = random.Random(8)
    write_world(rng, tmp_path)
    pysam.faidx(str(tmp_path / "ref.fa"))
    arguments = ["reads.fq", "ref.fa", "--mappings", "map.paf", "--format", "bam", "--sort", "--checksums"]
    expected = on_one_machine(tmp_path, "align", arguments)
    assert in_shards(rng, tmp_path, "align", arguments, 3) == expected


def write_bam(folder: Path, world: World, name: str) -> None:
    """Write the reads to a file of alignments, unmapped or with tags, some of them repeated by further records."""
    rng = random.Random(1)
    binary = name.endswith(".bam")
    header = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "old", "LN": 500}], "RG": [{"ID": "a", "SM": "b"}]}
    with pysam.AlignmentFile(str(folder / name), "wb" if binary else "wh", header=header) as file:
        for read, (symbols, quality) in world.reads.items():
            for flag in (4, *rng.choice(((), (2048 | 4,), (256 | 4, 2048 | 4)))):
                record = pysam.AlignedSegment(file.header)
                record.query_name, record.flag, record.query_sequence = read, flag, symbols
                record.query_qualities = pysam.qualitystring_to_array(quality)
                record.set_tag("RG", "a")
                file.write(record)


@pytest.mark.parametrize("name", ["reads.bam", "reads.sam"])
def test_reads_in_bam_and_sam(name, tmp_path):
    rng = random.Random(name)
    world = write_world(rng, tmp_path, 300)
    write_bam(tmp_path, world, name)
    form = ["--copy-tags"] if name.endswith("sam") else ["--format", "bam", "--sort", "--keep-unmapped"]
    arguments = [name, "ref.fa", "--mappings", "map.paf", *form]
    expected = on_one_machine(tmp_path, "align", arguments)
    assert in_shards(rng, tmp_path, "align", arguments, 3) == expected
    sizes = [part.stat().st_size for part in sorted((tmp_path / "run.plan.parts").glob("*.part"))]
    assert min(sizes) > 0, "no shard is empty"


def test_damaged_reads_in_bam_end_the_plan(tmp_path):
    world = write_world(random.Random(12), tmp_path, 300)
    write_bam(tmp_path, world, "reads.bam")
    data = (tmp_path / "reads.bam").read_bytes()
    (tmp_path / "reads.bam").write_bytes(data[: len(data) // 2])
    made = ("--shards", "2", "-o", "run.plan")
    done = run("plan", "reads.bam", "ref.fa", "--mappings", "map.paf", *made, cwd=tmp_path)
    assert_failure(done, 1, "reads.bam")
    assert not (tmp_path / "run.plan").exists()


def test_skipped_mappings(tmp_path):
    rng = random.Random(9)
    world = write_world(rng, tmp_path)
    lines = world.paf().splitlines(True)
    for at in (40, 200):
        lines.insert(at, lines[at - 1].replace("chr", "nowhere"))
    (tmp_path / "map.paf").write_text("".join(lines))
    arguments = ["reads.fq", "ref.fa", "--mappings", "map.paf", "--on-error", "skip", "--format", "paf"]
    expected = on_one_machine(tmp_path, "align", arguments)
    assert in_shards(rng, tmp_path, "align", arguments, 3) == expected


def test_what_cannot_be_cut_is_refused(tmp_path):
    rng = random.Random(10)
    world = write_world(rng, tmp_path, 40)
    made = ("--shards", "2", "-o", "run.plan")
    asked = ("reads.fq", "ref.fa", "--mappings", "map.paf")
    assert_failure(run("plan", *asked, "--keep-unmapped", *made, cwd=tmp_path), 2, "--keep-unmapped", "--sort")
    rows = world.paf().splitlines(True)
    (tmp_path / "map.paf").write_text("".join([*rows[1:], rows[0], *rows[:1], rows[-1], rows[0]]))
    assert_failure(run("plan", *asked, *made, cwd=tmp_path), 1, "map.paf", "several places")
    assert not (tmp_path / "run.plan").exists()


def test_a_faulty_mapping_ends_the_plan(tmp_path):
    rng = random.Random(11)
    world = write_world(rng, tmp_path, 40)
    lines = world.paf().splitlines(True)
    lines[20] = lines[20].replace("chr", "nowhere")
    (tmp_path / "map.paf").write_text("".join(lines))
    done = run("plan", "reads.fq", "ref.fa", "--mappings", "map.paf", "--shards", "2", "-o", "run.plan", cwd=tmp_path)
    assert_failure(done, 1, "map.paf, line 21")
