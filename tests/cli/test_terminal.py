"""Standard error on a terminal, in a file, and with --quiet and NO_COLOR."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .support import ESCAPE, Result, command, environment, random_symbols, seq, unread
from .test_interruption import wait_until

Align = Callable[..., Result]
BAR = re.compile("[━╸╺]")


def on_terminal(*arguments: str, cwd: Path, feed: bytes = b"", wait: float = 0, **env: str) -> tuple[int, str]:
    """Return (exit status, standard error) of the command with standard error on a terminal.

    The input stays open for `wait` seconds after the command has read `feed`, so that a progress bar is due.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*command(), *arguments],
        cwd=cwd,
        env=environment(**env),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    assert process.stdin
    process.stdin.write(feed)
    process.stdin.flush()
    stdin, shown = process.stdin, b""
    if wait:
        wait_until(lambda: not unread(stdin), 60)
        time.sleep(wait)
    stdin.close()
    try:
        while block := os.read(ours, 65536):
            shown += block
    except OSError:
        pass  # reading a terminal whose other end is closed is an error
    os.close(ours)
    return process.wait(timeout=60), shown.decode()


PAIRS = ("align", "-", "--format", "paf")


def test_bar_on_a_terminal(folder: Path) -> None:
    code, shown = on_terminal(*PAIRS, cwd=folder, feed=seq([("ACGT", "ACGT")]), wait=1)
    assert code == 0
    assert BAR.search(shown)
    assert "pairs" in shown


def test_bar_is_one_line_of_80_columns(folder: Path) -> None:
    # The last pair takes as long as the bar needs to show the others.
    long = random_symbols(60_000, 1), random_symbols(60_000, 2)
    (folder / "many.seq").write_bytes(seq([("ACGT", "ACGT")] * 100_000 + [long]))
    _, shown = on_terminal("align", "many.seq", "-t", "2", "-o", "x.paf", cwd=folder, COLUMNS="80")
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    bars = [line.rstrip() for line in re.split(r"[\r\n]", plain) if BAR.search(line)]
    assert bars and max(map(len, bars)) <= 80
    assert all(re.search(r"aligning .* pairs, [\d,.]+/s .* eta", line) for line in bars)


@pytest.mark.parametrize("option", ["--no-progress", "--quiet"])
def test_no_bar_when_not_wanted(folder: Path, option: str) -> None:
    code, shown = on_terminal(*PAIRS, option, cwd=folder, feed=seq([("ACGT", "ACGT")]), wait=1)
    assert code == 0
    assert not BAR.search(shown)
    assert (shown == "") == (option == "--quiet")


def test_colors_on_a_terminal(folder: Path) -> None:
    code, shown = on_terminal("align", "nothing.fa", "t.fa", cwd=folder)
    assert code == 1
    assert f"{ESCAPE}1;31m" in shown


@pytest.mark.parametrize(
    "arguments",
    [("align", "nothing.fa", "t.fa"), ("align", "q.fa", "t.fa", "--no-progress")],
    ids=" ".join,
)
def test_no_color(folder: Path, arguments: tuple[str, ...]) -> None:
    _, shown = on_terminal(*arguments, cwd=folder, NO_COLOR="1")
    assert "wfacli" in shown
    assert ESCAPE not in shown


# NO_COLOR forbids colors: codes 30 to 49 and 90 to 107.
COLOR = re.compile(r"\x1b\[([0-9;]*;)?([349][0-9]|10[0-7])[0-9;]*m")


def test_bar_without_color(folder: Path) -> None:
    # A progress bar needs escape codes, but none of them may be a color.
    feed = seq([("ACGT", "ACGT")])
    _, shown = on_terminal(*PAIRS, cwd=folder, feed=feed, wait=1, NO_COLOR="1")
    assert BAR.search(shown)
    assert not COLOR.search(shown)


def test_usage_without_color(folder: Path) -> None:
    assert COLOR.search(on_terminal("align", "--bogus", cwd=folder)[1])
    assert not COLOR.search(on_terminal("align", "--bogus", cwd=folder, NO_COLOR="1")[1])


def test_no_escape_codes_in_a_file(align: Align) -> None:
    for arguments in (("nothing.fa", "t.fa"), ("q.fa", "t.fa"), ("q.fa", "t.fa", "--progress"), ("--help",)):
        result = align(*arguments)
        assert "\x1b" not in result.err
        assert b"\x1b" not in result.out


def test_summary(align: Align) -> None:
    result = align("q.fa", "t.fa")
    assert result.err.count("\n") == 1
    for word in ("5 pairs", "identity", "300 b", "pairs/s"):
        assert word in result.err


@pytest.mark.parametrize("option", ["-q", "--quiet"])
def test_quiet_prints_nothing(align: Align, option: str) -> None:
    assert align("q.fa", "t.fa", option).err == ""
    assert align("-", "--format", "paf", option, stdin=b"MKLV\tMKLV\n").err == ""


def test_quiet_still_prints_errors(align: Align) -> None:
    assert "nothing.fa" in align("nothing.fa", "t.fa", "--quiet").err


def test_messages_are_not_marked_up(align: Align) -> None:
    # A file name may look like markup of the output library.
    assert "[bold]x[/bold].fa" in align("[bold]x[/bold].fa", "t.fa").err


def test_names_that_are_no_unicode(folder: Path) -> None:
    arguments = [*command(), "align", b"\xff.fa", "t.fa"]
    done = subprocess.run(arguments, cwd=folder, env=environment(), capture_output=True, check=False)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"No such file" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_terminals_without_unicode(align: Align, encoding: str) -> None:
    env = environment(PYTHONIOENCODING=encoding)
    for arguments, code in ((("--help",), 0), (("q.fa", "t.fa", "--penalties", "x"), 2), (("--bogus",), 2)):
        result = align(*arguments, env=env)
        assert result.code == code
        assert "Traceback" not in result.err


def test_long_run_shows_no_bar_in_a_file(align: Align, folder: Path) -> None:
    (folder / "pairs.seq").write_bytes(seq([(random_symbols(9_000, 1), random_symbols(9_000, 2))]))
    assert not BAR.search(align("pairs.seq", "--progress").err)
