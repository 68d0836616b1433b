"""Detection of swapped REFERENCE and READS, and valid inputs that look similar."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from tests.cli.support import assert_failure, assert_success, environment, random_symbols, run
from tests.mapped.fake_mapper import install
from wfacli.errors import InputError
from wfacli.io.mapper.swapped import check_order
from wfacli.io.read.sources import Source


def written(path: Path, lengths: list[int], fastq: bool = False) -> Source:
    symbols = random_symbols(max(lengths), 3)
    mark, rest = ("@", "\n+\n{}\n") if fastq else (">", "\n")
    with path.open("w") as file:
        for number, length in enumerate(lengths):
            lines = symbols[:length] if fastq else "\n".join(symbols[i : i + 60] for i in range(0, length, 60))
            file.write(f"{mark}r{number} more\n{lines}{rest.format('I' * length)}")
    return Source(str(path))


def doubt(folder: Path, reference: list[int], reads: list[int], formats: str, preset: str = "map-ont") -> str | None:
    """Return the warning, if any; formats: a (FASTA) or q (FASTQ) for each file."""
    sources = [
        written(folder / name, lengths, symbol == "q")
        for name, lengths, symbol in zip(("x", "y"), (reference, reads), formats, strict=True)
    ]
    try:
        return check_order(sources[0], sources[1:], preset)
    finally:
        for source in sources:
            source.close()


LONG_READS = [random.Random(2).randint(300, 30_000) for _ in range(60)]


@pytest.mark.parametrize(
    ("reference", "reads", "formats", "preset"),
    [
        ([5_000_000], [150] * 900, "aq", "map-ont"),
        ([5_000_000], LONG_READS, "aa", "map-ont"),
        ([30_000], LONG_READS, "aq", "map-ont"),
        ([400] * 500, [1_500_000], "aa", "asm5"),  # contigs, with whole sequences mapped to them
        ([300] * 400, [150] * 900, "aq", "sr"),
        ([300] * 400, [150] * 900, "aa", "sr"),
        ([300] * 400, LONG_READS, "aa", "map-ont"),  # amplicons, and reads that contain several of them
        ([300] * 400, [15_000] * 200, "aa", "map-hifi"),
        ([2300, 2300, 2200, 1700, 1500, 1400, 1000, 890], [150] * 900, "aq", "sr"),
        ([5_000] * 5, [4_000] * 5, "qq", "map-ont"),  # a consensus with qualities
        (LONG_READS, LONG_READS, "qq", "ava-ont"),
    ],
)
def test_usual_files(folder: Path, reference: list[int], reads: list[int], formats: str, preset: str) -> None:
    assert doubt(folder, reference, reads, formats, preset) is None


@pytest.mark.parametrize(
    ("reference", "reads", "formats", "words"),
    [
        ([150] * 900, [30_000], "aa", "y a long one: if they were swapped, the reference comes first"),
        ([150] * 20_000, [1_500_000], "aa", "y a long one"),
        ([150] * 900, [2300, 2300, 2200, 1700, 1500, 1400, 1000, 890], "aa", "y a long one"),
        (LONG_READS, [30_000], "qa", "is FASTQ, and its sequences are no longer than those of"),
        ([150] * 900, [150] * 900, "qq", "is FASTQ, and its sequences are no longer"),
    ],
)
def test_files_that_look_swapped(
    folder: Path, reference: list[int], reads: list[int], formats: str, words: str
) -> None:
    said = doubt(folder, reference, reads, formats)
    assert said is not None
    assert words in said


@pytest.mark.parametrize("reads", [[1500], [1_500_000, 3000]])
def test_reads_as_reference_and_a_reference_as_reads(folder: Path, reads: list[int]) -> None:
    with pytest.raises(InputError, match=r"x: is FASTQ, and .*y has a much longer .* wfacli map .*y .*x"):
        doubt(folder, [150] * 900, reads, "qa")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a fake minimap2 that finds nothing."""
    install(tmp_path)
    return tmp_path


def test_the_command_says_so(folder: Path) -> None:
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    written(folder / "R1.fq", [150] * 900, True).close()
    written(folder / "R2.fq", [150] * 900, True).close()
    written(folder / "ref.fa", [9000]).close()
    written(folder / "reads.fa", [150] * 900).close()
    for files in (["R1.fq", "ref.fa"], ["R1.fq", "R2.fq", "ref.fa"]):
        result = run("map", *files, "-o", "x.sam", cwd=folder, env=env)
        assert_failure(result, 1, "R1.fq: is FASTQ, and ref.fa has", "wfacli map ref.fa R1.fq")
        assert not list(folder.glob("x.sam*"))
    result = run("map", "reads.fa", "ref.fa", cwd=folder, env=env)
    assert_success(result)
    assert "wfacli: warning: reads.fa, the reference, has many short sequences" in result.err
    assert "warning" not in run("map", "reads.fa", "ref.fa", "-q", cwd=folder, env=env).err
    assert "warning" not in run("map", "ref.fa", "reads.fa", cwd=folder, env=env).err


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (b"BAM\1", "x: is BAM; the reference comes first: wfacli map reads.fa x"),
        (b"CRAM", "x: is CRAM"),
        (b"MMI\2", "x: is an index of minimap2, which has no sequences"),
    ],
)
def test_a_reference_that_has_no_symbols(folder: Path, start: bytes, words: str) -> None:
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    written(folder / "reads.fa", [150] * 900).close()
    (folder / "x").write_bytes(start + bytes(50))
    assert_failure(run("map", "x", "reads.fa", cwd=folder, env=env), 1, words)


def test_an_unknown_preset(folder: Path) -> None:
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    written(folder / "reads.fa", [150]).close()
    result = run("map", "reads.fa", "reads.fa", "-x", "no-such", cwd=folder, env=env)
    assert_failure(result, 2, "minimap2 has no preset 'no-such'; there are map-ont, map-hifi,")
    assert not result.out
    assert_success(run("map", "reads.fa", "reads.fa", "-x", "a-newer-one", cwd=folder, env=env))


def test_presets_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library accepts any preset name silently, so names are checked."""
    from types import SimpleNamespace

    from wfacli.errors import UsageError
    from wfacli.io.mapper.presets import check_preset

    indexes = {"lr:hq": (19, 19), "splice:sr": (15, 5)}
    library = SimpleNamespace(
        Aligner=lambda seq, preset: SimpleNamespace(**dict(zip("kw", indexes.get(preset, (15, 10)), strict=True)))
    )
    monkeypatch.setitem(sys.modules, "mappy", library)
    for preset in ("map-ont", "lr", "sr", "lr:hq", "splice:sr"):
        check_preset(preset, None)
    with pytest.raises(UsageError, match="mappy has no preset 'no-such'; there are map-ont"):
        check_preset("no-such", None)


@pytest.mark.parametrize(
    ("lengths", "fastq", "options", "said"),
    [
        (
            [150, 151, 120] * 20,
            True,
            [],
            "reads of at most 151 bases are mapped with preset map-ont; --preset sr",
        ),
        ([150] * 60, True, ["-x", "map-ont"], ""),
        ([150] * 60, True, ["-x", "sr"], ""),
        ([150] * 60, True, ["reads2"], ""),
        ([150] * 60 + [3000], True, [], ""),
        ([150] * 60, False, [], ""),
        ([150] * 5, True, [], ""),
    ],
)
def test_short_reads_by_the_preset_of_long_ones(
    folder: Path, lengths: list[int], fastq: bool, options: list[str], said: str
) -> None:
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    written(folder / "ref.fa", [90_000]).close()
    for name in ("reads", "reads2"):
        written(folder / name, lengths, fastq).close()
    result = run("map", "ref.fa", "reads", *options, cwd=folder, env=env)
    assert_success(result)
    assert ("wfacli: warning: " in result.err) == bool(said)
    assert said in result.err
