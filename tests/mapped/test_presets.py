"""Scores of presets: the table compared with the installed minimap2, and its use by the commands."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import oracles, pairgen
from tests.cli.support import assert_failure, assert_success, run
from tests.mapped.world import random_world, turned
from wfacli.config import Penalties
from wfacli.scoring.presets import PRESETS

HERE = shutil.which("minimap2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random_world(3).write(tmp_path)
    return tmp_path


def score(cigar: str, penalties: Penalties) -> int:
    """Return the score of an alignment under a scheme with two gap pieces."""
    total = 0
    for length, operation in oracles.runs_of(cigar):
        if operation == "=":
            total += length * penalties.match
        elif operation == "X":
            total -= length * penalties.mismatch
        elif operation in "ID":
            total -= min(opening + length * extension for opening, extension in penalties.gaps)
    return total


def has(preset: str) -> bool:
    """Return whether the installed minimap2 has this preset, and maps single reads with it."""
    assert HERE
    asked = subprocess.run([HERE, "-x", preset, "--version"], capture_output=True, check=False)
    return b"unknown preset" not in asked.stderr and not preset.startswith("ava-")


def unmistakable_reads(seed: int = 5) -> tuple[str, dict[str, str]]:
    """Return a random reference, and reads with an isolated mismatch, short gap or long gap."""
    rng = random.Random(seed)
    reference = pairgen.sequence(rng, 60_000, b"ACGT").decode()
    other = str.maketrans("ACGT", "TGCA")  # transversions, which all presets score alike
    reads = {}
    for number in range(24):
        begin = rng.randrange(50_000)
        symbols = reference[begin : begin + 3_000]
        if number % 4 == 1:
            symbols = symbols[:1_500] + symbols[1_500].translate(other) + symbols[1_501:]
        elif number % 4 == 2:
            symbols = symbols[:1_500] + symbols[1_503:]
        elif number % 4 == 3:
            symbols = symbols[:1_500] + pairgen.sequence(rng, 90, b"ACGT").decode() + symbols[1_500:]
        reads[f"r{number}"] = turned(symbols) if number % 2 else symbols
    return reference, reads


@pytest.mark.skipif(HERE is None, reason="minimap2 is not on PATH")
@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_the_table_is_what_minimap2_scores_by(preset: str, tmp_path: Path) -> None:
    if not has(preset):
        pytest.skip(f"this minimap2 maps no single reads by {preset}")
    reference, reads = unmistakable_reads()
    (tmp_path / "ref.fa").write_text(f">t\n{reference}\n")
    (tmp_path / "reads.fa").write_text("".join(f">{n}\n{s}\n" for n, s in reads.items()))
    command = [HERE, "-a", "--eqx", "-x", preset, "ref.fa", "reads.fa"]
    out = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in out.splitlines() if not line.startswith("@")]
    seen = set()
    for row in rows:
        if int(row[1]) & (4 | 256 | 2048):
            continue
        tags = {tag[:2]: tag[5:] for tag in row[11:]}
        assert score(row[5], PRESETS[preset].penalties) == int(tags["AS"]), row[:6]
        seen |= {operation for _, operation in oracles.runs_of(row[5])}
    assert len(rows) > 20
    assert seen >= set("=XDI") or preset in ("sr", "short")  # these presets do not align a long insertion


@pytest.mark.skipif(HERE is None, reason="minimap2 is not on PATH")
@pytest.mark.parametrize("preset", ["map-ont", "map-hifi", "lr:hq", "asm5"])
def test_ambiguous_bases_score_as_by_minimap2(preset: str, tmp_path: Path) -> None:
    """Not with sr, with which minimap2's AS leaves out what an end loses that is reached for its bonus."""
    if not has(preset):
        pytest.skip(f"this minimap2 has no preset {preset}")
    reference, reads = unmistakable_reads(7)
    symbols = list(reference)
    for at in range(700, len(symbols), 1_500):
        symbols[at : at + 1] = "N"
    for at in range(5_000, len(symbols), 10_000):
        symbols[at : at + 100] = "N" * 100
    reads = {f"n{at}": reference[at : at + 3_000] for at in range(0, 50_000, 1_700)}
    reads |= {f"{name}N": bases[:1_000] + "N" + bases[1_001:] for name, bases in reads.items()}
    (tmp_path / "ref.fa").write_text(">t\n" + "".join(symbols) + "\n")
    (tmp_path / "reads.fa").write_text("".join(f">{n}\n{s}\n" for n, s in reads.items()))
    command = [str(HERE), "-a", "--eqx", "-x", preset, "ref.fa", "reads.fa"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    result = run("map", "-x", preset, "ref.fa", "reads.fa", "--clip", "soft", cwd=tmp_path)
    assert_success(result)
    ours, theirs = _primary_records(result.text), _primary_records(done.stdout)
    charged = 0
    for name, (row, tags) in theirs.items():
        if not int(row[1]) & 4:
            assert int(ours[name][1]["AS"]) >= int(tags["AS"]), (row[:9], ours[name][0][:9])
            charged += ours[name][1]["AS"] == tags["AS"] and tags["nn"] != "0"
    assert charged > 40


def _primary_records(sam: str) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Return the fields and tags of each read's primary record."""
    rows = [line.split("\t") for line in sam.splitlines() if not line.startswith("@")]
    return {row[0]: (row, {tag[:2]: tag[5:] for tag in row[11:]}) for row in rows if int(row[1]) < 256}


def paf(folder: Path, *options: str) -> list[list[str]]:
    result = run(
        "align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--span", "mapped", "--format", "paf", *options,
        cwd=folder,
    )  # fmt: skip
    assert_success(result)
    return result.rows


def scores(rows: list[list[str]]) -> list[str]:
    return [field for row in rows for field in row if field.startswith("AS:i:")]


def test_align_takes_a_presets_scores(folder: Path) -> None:
    wanted = paf(folder, "--metric", "affine2p", "--penalties", "19,39,3,81,1", "--match", "1")
    assert paf(folder, "--preset", "asm5") == wanted
    assert scores(wanted) != scores(paf(folder))


def test_options_replace_a_presets_scores(folder: Path) -> None:
    plain = paf(folder)
    assert paf(folder, "--preset", "asm5", "--metric", "affine") == plain
    assert paf(folder, "--preset", "asm5", "--penalties", "4,6,2") == plain
    assert scores(paf(folder, "--preset", "asm5", "--match", "3")) == scores(
        paf(folder, "--metric", "affine2p", "--penalties", "19,39,3,81,1", "--match", "3")
    )


def test_presets_that_are_not_there(folder: Path) -> None:
    options = ("align", "reads.fq", "ref.fa", "--mappings", "map.paf", "-o", "x.sam")
    assert_failure(
        run(*options, "--preset", "map-moon", cwd=folder), 2, "no scores are known for 'map-moon'", "map-ont"
    )
    assert_failure(run("align", "reads.fq", "ref.fa", "--preset", "sr", cwd=folder), 2, "--preset", "--mappings")
