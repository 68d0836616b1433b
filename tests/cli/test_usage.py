"""Help, version, completion, and invalid command lines."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wfacli.cli.app import COMMANDS, loaded

from .support import Result, assert_failure, assert_success, command, environment

Wfacli = Callable[..., Result]
PLAIN = environment(COLUMNS="200", NO_COLOR="1")


def test_version_is_a_bare_number(wfacli: Wfacli) -> None:
    result = wfacli("--version")
    assert_success(result)
    assert re.fullmatch(r"\d+(\.\d+)+((a|b|rc|\.dev|\.post)\d+)?\n", result.text)
    assert result.err == ""


def test_module_is_the_command(wfacli: Wfacli) -> None:
    module = [sys.executable, "-m", "wfacli"]
    arguments = ("align", "q.fa", "t.fa")
    assert wfacli("--version", program=module).out == wfacli("--version").out
    assert wfacli(*arguments, program=module).out == wfacli(*arguments).out
    assert_failure(wfacli("align", "--bogus", program=module), 2, "--bogus", "Usage: wfacli align")


@pytest.mark.parametrize(
    "words",
    [
        "align q.fa t.fa --format paf",
        "align q.fa t.fa -q",
        "align q.fa nothing.fa",
        "align q.fa --bogus",
        "align -",
        "align --help",
        "map t.fa q.fa -x map-ont",
        "",
    ],
)
def test_copies_of_a_process_are_as_started_ones(wfacli: Wfacli, words: str) -> None:
    env = environment(COLUMNS="90", PATH="/nowhere", NO_COLOR="1", WFACLI_ISA="baseline")
    copied, started = (wfacli(*words.split(), env=env, program=program) for program in (None, command()))
    assert (copied.code, copied.out) == (started.code, started.out)
    assert re.sub(r"[0-9.,]+", "", copied.err) == re.sub(r"[0-9.,]+", "", started.err)


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_of_the_program(wfacli: Wfacli, option: str) -> None:
    result = wfacli(option, env=PLAIN)
    assert_success(result)
    for word in ("Usage: wfacli", "align", "--version", "--show-completion"):
        assert word in result.text


@pytest.mark.parametrize("name", COMMANDS)
def test_list_of_commands_says_what_their_help_begins_with(name: str) -> None:
    command, entry = loaded(name), COMMANDS[name]
    assert command.name == name
    assert command.help.splitlines()[0] == entry.line
    assert command.hidden == entry.hidden


# The help does not import modules that only commands need, nor a command those of others.
HEAVY = {"numpy", "pysam", "matplotlib", "pycuda", "wfacli._native"}
GPU = {"pysam", "matplotlib", "pycuda", "wfacli.gpu.runtime.cuda_driver"}


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        ("--version", HEAVY),
        ("--help", HEAVY),
        ("complete", HEAVY),
        ("align q.fa t.fa --engine cpu", GPU | {"rich", "wfacli.solve.distance", "numpy.ma"}),
        ("extend q.fa t.fa", GPU | {"rich", "wfacli.solve.distance", "numpy.ma"}),
        ("distance q.fa t.fa", {"pysam", "matplotlib", "pycuda", "wfacli.solve.local"}),
        ("kernels --help", {"numpy", "pysam", "matplotlib", "pycuda", "wfacli.run.align"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_commands_import_what_they_need_alone(folder: Path, arguments: str, heavy: set[str]) -> None:
    code = """if True:
        import atexit, sys
        atexit.register(lambda: print(*sys.modules, file=open("modules", "w")))
        from wfacli.cli import entry
        entry()"""
    env = environment()
    if arguments == "complete":
        env |= {"_WFACLI_COMPLETE": "complete_bash", "COMP_WORDS": "wfacli ", "COMP_CWORD": "1"}
    words = [] if arguments == "complete" else arguments.split()
    for name in ("q.fa", "t.fa"):
        (folder / name).write_text(">one\nACGT\n")
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=folder, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not heavy & set((folder / "modules").read_text().split())


def test_help_of_align(wfacli: Wfacli) -> None:
    result = wfacli("align", "--help-all", env=PLAIN)
    assert_success(result)
    for panel in (
        "Arguments",
        "Scoring",
        "Span",
        "Heuristics (may miss the best alignment)",
        "Output",
        "Engine",
        "Reporting",
    ):
        assert f"\n{panel}:\n" in result.text
    for word in ("Usage: wfacli align", "o + l·e", "4,6,2", "--mappings -"):
        assert word in result.text
    # Brackets in examples are text, not markup that disappears.
    assert "@RG\\tID:run1\\tSM:me" in result.text


@pytest.mark.parametrize("arguments", [(), ("align",), ("simulate",)], ids=" ".join)
def test_nothing_given_shows_the_help(wfacli: Wfacli, arguments: tuple[str, ...]) -> None:
    """Without arguments, the command never reads data: a script's variables may have been empty."""
    result = wfacli(*arguments)
    assert result.code == 2
    assert result.out == b""
    assert "Usage:" in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("align", "--bogus"), "--bogus"),
        (("align", "q.fa", "t.fa", "--bogus"), "--bogus"),
        (("--bogus",), "--bogus"),
        (("bogus",), "bogus"),
        (("align", "q.fa", "t.fa", "extra"), "extra"),
        (("align", "q.fa", "t.fa", "-o"), "-o"),
        (("align", "-q"), "QUERY"),
        (("align", "q.fa", "t.fa", "--metric", "levenshtein"), "levenshtein"),
        (("align", "q.fa", "t.fa", "--ambiguous", "maybe"), "maybe"),
        (("align", "q.fa", "t.fa", "--cigar", "M="), "M="),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_command_lines(wfacli: Wfacli, arguments: tuple[str, ...], word: str) -> None:
    result = wfacli(*arguments)
    assert_failure(result, 2, word)
    assert not result.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(wfacli: Wfacli, shell: str) -> None:
    result = wfacli(env=environment(_WFACLI_COMPLETE=f"source_{shell}"))
    assert_success(result)
    assert "wfacli" in result.text


def test_completion_completes(wfacli: Wfacli) -> None:
    env = environment(_WFACLI_COMPLETE="complete_bash", COMP_WORDS="wfacli align --form", COMP_CWORD="2")
    result = wfacli(env=env)
    assert result.text.split() == ["--format"]
