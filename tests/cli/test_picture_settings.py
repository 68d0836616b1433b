"""Pictures depend on no settings of matplotlib but the packaged ones, and no file of settings is opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .support import Result, assert_success, command, environment, fasta, random_symbols, run

pytest.importorskip("matplotlib")

# Settings that start a program, with a preamble for it, and one that changes every picture.
SETTINGS = "text.usetex: True\ntext.latex.preamble: \\immediate\\write18{touch started}\naxes.facecolor: red\n"
COMMANDS = {
    "dotplot": "dotplot one.fa one.fa -k 5 -o plot.svg",
    "distance": "distance one.fa one.fa --plot plot.svg",
    "local": "local one.fa one.fa --plot plot.svg",
    "bench": "bench --pairs 1 --length 50 --error 0.1 --metric edit --engine cpu --threads 1 --plot plot.svg",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one sequence."""
    (tmp_path / "one.fa").write_bytes(fasta([random_symbols(60, seed=3)]))
    return tmp_path


def drawn(folder: Path, name: str, **variables: str) -> Result:
    """Run a command that draws plot.svg, as a new process, since matplotlib reads settings when it is imported."""
    words = COMMANDS[name].split()
    return run(*words, "-q", cwd=folder, program=command(), env=environment(**variables), timeout=60)


@pytest.mark.parametrize("name", COMMANDS)
def test_settings_in_the_working_directory_are_not_opened(folder: Path, name: str) -> None:
    """Opening a pipe that has no writer would block."""
    os.mkfifo(folder / "matplotlibrc")
    result = drawn(folder, name)
    assert_success(result)
    assert result.err == ""
    assert (folder / "plot.svg").stat().st_size
    assert sorted(path.name for path in folder.iterdir()) == ["matplotlibrc", "one.fa", "plot.svg"]


def test_settings_do_not_change_a_picture(folder: Path) -> None:
    """Neither settings in the working directory nor those of the user have an effect, and LaTeX is not started."""
    assert_success(drawn(folder, "dotplot"))
    expected = (folder / "plot.svg").read_bytes()
    latex = folder / "bin" / "latex"
    latex.parent.mkdir()
    latex.write_text(f"#!/bin/sh\n: > {folder / 'started'}\nexit 1\n")
    latex.chmod(0o755)
    (folder / "config").mkdir()
    for place in (folder, folder / "config"):
        (place / "matplotlibrc").write_text(SETTINGS)
    result = drawn(
        folder,
        "dotplot",
        MATPLOTLIBRC=str(folder / "matplotlibrc"),
        MPLCONFIGDIR=str(folder / "config"),
        MPLBACKEND="no such backend",
        PATH=f"{latex.parent}:{os.environ['PATH']}",
    )
    assert_success(result)
    assert result.err == "" and not (folder / "started").exists()
    assert (folder / "plot.svg").read_bytes() == expected


@pytest.mark.parametrize("content", [b"\xff\xfe\n", b"x\x1b]0;owned\a: 1\n"], ids=["not UTF-8", "unknown setting"])
def test_a_damaged_file_of_settings_is_no_obstacle(folder: Path, content: bytes) -> None:
    (folder / "matplotlibrc").write_bytes(content)
    result = drawn(folder, "dotplot")
    assert_success(result)
    assert result.err == ""


def test_a_working_directory_that_is_not_readable(folder: Path) -> None:
    """The working directory of the run is the same before and after the import of matplotlib."""
    folder.chmod(0o311)
    try:
        assert_success(drawn(folder, "dotplot"))
    finally:
        folder.chmod(0o755)
    assert (folder / "plot.svg").stat().st_size


def test_settings_of_a_python_program_do_not_change_its_dot_plots(folder: Path) -> None:
    """The Python function draws with the packaged settings, too, and the program keeps its own."""
    import matplotlib as mpl

    from wfacli.dotplot import save

    save(folder / "expected.svg", "ACGTTGCATG", "ACGTTGCATG", k=3)
    with mpl.rc_context({"axes.facecolor": "red", "font.size": 20, "text.usetex": True}):
        save(folder / "plot.svg", "ACGTTGCATG", "ACGTTGCATG", k=3)
        assert mpl.rcParams["font.size"] == 20
    assert (folder / "plot.svg").read_bytes() == (folder / "expected.svg").read_bytes()
