"""`wfacli map` with programs in minimap2's place that misbehave: the error names the mapper, and what is wrong."""

from __future__ import annotations

import itertools
import shutil
import time
from pathlib import Path

import pytest

from tests.cli.support import Result, assert_failure, assert_success, environment, run
from tests.mapped.fake_mapper import complete, install, names
from tests.mapped.world import random_world
from wfacli.io.mapper import answer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Reads, a reference, and a fake minimap2 that prints map.paf."""
    random_world(31).write(tmp_path)
    install(tmp_path)
    return tmp_path


def map_(folder: Path, *options: str, stdin: bytes = b"") -> Result:
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    reads = "-" if stdin else "reads.fq"
    return run("map", "ref.fa", reads, "-o", "x.sam", *options, cwd=folder, env=env, stdin=stdin)


def replace_mapper(folder: Path, script: str) -> None:
    """Let a shell script run instead of the fake mapper, which it can run as bin/mapper."""
    shutil.move(folder / "bin" / "minimap2", folder / "bin" / "mapper")
    (folder / "bin" / "minimap2").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "bin" / "minimap2").chmod(0o755)


@pytest.mark.parametrize("more", [(), ("--drop-unmapped",), ("--batch-bases", "300", "-t", "1")])
@pytest.mark.parametrize("order", ["repeated", "one repeated", "reversed"])
@pytest.mark.parametrize("piped", [False, True])
def test_lines_that_are_not_in_the_order_of_the_reads(
    folder: Path, order: str, more: tuple[str, ...], piped: bool
) -> None:
    """The names of the reads are different, so the reads file is not to blame."""
    reads = (folder / "reads.fq").read_bytes()
    mapped = (folder / "map.paf").read_text().splitlines(keepends=True)
    lines = [line for line in complete(mapped, [list(names(reads))], False) if line in mapped]
    groups = [list(group) for _, group in itertools.groupby(lines, lambda line: line.split("\t")[0])]
    changed = {"repeated": [*groups, *groups], "one repeated": [*groups, groups[1]], "reversed": groups[::-1]}[order]
    (folder / "verbatim").touch()
    (folder / "map.paf").write_text("".join(itertools.chain.from_iterable(changed)))
    result = map_(folder, *more, stdin=reads if piped else b"")
    assert_failure(result, 1, "minimap2, record ", "its lines are not in the order of the reads")
    assert "reads.fq" not in result.err and not (folder / "x.sam").exists()


@pytest.mark.parametrize("files", [["r1.fq", "r2.fq"], ["both.fq"]])
@pytest.mark.parametrize("order", ["abca", "bac", "acbc"])
def test_lines_of_mates_that_are_not_in_the_order_of_the_reads(folder: Path, files: list[str], order: str) -> None:
    mates = [[f"@{name}\nACGT\n+\nIIII\n" for name in "abc"] for _ in range(2)]
    (folder / "r1.fq").write_text("".join(mates[0]))
    (folder / "r2.fq").write_text("".join(mates[1]))
    (folder / "both.fq").write_text("".join(itertools.chain.from_iterable(zip(*mates, strict=True))))
    (folder / "verbatim").touch()
    unmapped = "\t*\t0\t0\t*\t*\t0\t0\t*\t*\n"
    (folder / "map.sam").write_text("".join(f"{name}\t{flag}{unmapped}" for name in order for flag in (77, 141)))
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    result = run("map", "ref.fa", *files, "--preset", "sr", "-o", "x.sam", cwd=folder, env=env)
    if order == "bac":  # the reads before the first mappings are buffered
        assert_success(result)
        return
    assert_failure(result, 1, "minimap2, record ", "its lines are not in the order of the reads")


@pytest.mark.parametrize("piped", [False, True])
def test_reads_of_one_name_are_to_blame(folder: Path, piped: bool) -> None:
    """The second read of the name is the last one, far behind the lines that the mapper has written about it."""
    reads = (folder / "reads.fq").read_bytes()
    mapped = (folder / "map.paf").read_text().splitlines(keepends=True)
    name = mapped[0].split("\t")[0]
    second = b"@" + name.encode() + b"\nACGT\n+\nIIII\n"
    filler = b"".join(b"@x%d\nACGT\n+\nIIII\n" % number for number in range(5000))
    (folder / "reads.fq").write_bytes(reads + filler + second)
    (folder / "verbatim").touch()
    of_name = [line for line in mapped if line.split("\t")[0] == name]
    (folder / "map.paf").write_text("".join(mapped + of_name))
    result = map_(folder, stdin=reads + filler + second if piped else b"")
    place = "-" if piped else "reads.fq"
    assert_failure(result, 1, f"{place}, record {name}: two reads have this name")


def test_a_mapper_that_fails_after_its_last_line(folder: Path) -> None:
    """The last line of a successful run is not the reason."""
    replace_mapper(folder, 'mapper "$@"\nexit 1')
    result = map_(folder)
    assert_failure(result, 1, "minimap2: ended with status 1\n")
    assert not (folder / "x.sam").exists()


# A mapper that answers questions about its version and presets with 100 MB, and then creates a file.
_TALKATIVE = """
case "$*" in
--version) touch asked; echo 2.30; head -c 100000000 /dev/zero; touch ended; exit;;
*--version) head -c 100000000 /dev/zero >&2; touch ended; exit 1;;
esac
exec mapper "$@"
"""


@pytest.mark.parametrize("preset", ["map-ont", "lr:hq"])
def test_an_answer_without_an_end_is_not_read_to_its_end(folder: Path, preset: str) -> None:
    """The mapper is killed after a few kB; it is asked about presets, too, that not all versions have."""
    replace_mapper(folder, _TALKATIVE)
    assert_success(map_(folder, "--preset", preset))
    assert (folder / "asked").exists() and not (folder / "ended").exists()
    assert "@PG\tID:minimap2\tPN:minimap2\tCL:" in (folder / "x.sam").read_text()


def test_a_version_that_does_not_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program and its children are killed at the end of the time."""
    monkeypatch.setattr(answer, "_SECONDS", 0.2)
    program = tmp_path / "minimap2"
    program.write_text("#!/bin/sh\necho 2.30\nsleep 600\necho 1\n")
    program.chmod(0o755)
    begun = time.monotonic()
    assert answer.answer_of([str(program), "--version"]) is None
    assert time.monotonic() - begun < 60
    program.write_text("#!/bin/sh\necho 2.30\necho told >&2\nexit 3\n")
    monkeypatch.undo()
    assert answer.answer_of([str(program)]) == (3, b"2.30\n")
    assert answer.answer_of([str(program)], on_stderr=True) == (3, b"told\n")
    assert answer.answer_of([str(tmp_path / "missing")]) is None
