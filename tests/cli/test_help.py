"""Help: what `-h` shows fits a screen, `--help-all` has every option, and the manual is made from the same text."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wfacli.cli.app import COMMANDS, SHARD_COMMANDS, loaded
from wfacli.cli.help_page import COMMON

from .support import Result, assert_failure, assert_success, environment

Wfacli = Callable[..., Result]
SCREEN = environment(COLUMNS="80")
ROOT = Path(__file__).parents[2]
FORBIDDEN = re.compile(r"<\w+( \w+)?>|\[default|\(off\)|\[off\]|<=|\[(None|False|True)\]|\[/?bold|\d{7,}")
SHOWN = [name for name, entry in COMMANDS.items() if not entry.hidden]


def options_of(name: str) -> set[str]:
    """Return all names of the options of a command that are not hidden."""
    params = [p for p in loaded(name).params if p.param_type_name == "option" and not p.hidden]
    return {opt for param in params for opt in (*param.opts, *param.secondary_opts)}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_fits_a_screen(wfacli: Wfacli, name: str, option: str) -> None:
    result = wfacli(name, option, env=SCREEN)
    assert_success(result)
    lines = result.text.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"Usage: wfacli {name} ")
    assert not FORBIDDEN.search(result.text), FORBIDDEN.search(result.text)
    missing = [word for word in COMMON[name].split() if not re.search(rf"^  (-\S, )*--{word}\b", result.text, re.M)]
    assert not missing
    names = [p for p in loaded(name).params if p.param_type_name == "option" and not p.hidden]
    assert (f"wfacli {name} --help-all" in result.text) == (len(COMMON[name].split()) + 1 < len(names))


@pytest.mark.parametrize("name", SHARD_COMMANDS)
def test_help_of_a_shard(wfacli: Wfacli, name: str) -> None:
    for option in ("-h", "--help-all"):
        result = wfacli(name, "--plan", "x", option, env=SCREEN)
        assert_success(result)
        assert "--shard I/N" in result.text and "--format" not in result.text


def test_help_of_the_program_fits_a_screen(wfacli: Wfacli) -> None:
    result = wfacli("-h", env=SCREEN)
    assert len(result.text.splitlines()) <= 40
    assert max(map(len, result.text.splitlines())) <= 80
    for name, entry in COMMANDS.items():
        line = re.escape(entry.line).replace(r"\ ", r"\s+")
        assert bool(re.search(rf"^  {name} +{line}$", result.text, re.M)) != entry.hidden


@pytest.mark.parametrize("name", COMMANDS)
def test_all_help_has_every_option(wfacli: Wfacli, name: str) -> None:
    result = wfacli(name, "--help-all", env=SCREEN)
    assert_success(result)
    heads = " ".join(re.findall(r"^  (-.*)$", result.text, re.M))
    assert options_of(name) == set(re.findall(r"(?<![\w-])--?[\w@][\w-]*", heads))
    assert not FORBIDDEN.search(result.text), FORBIDDEN.search(result.text)
    prose = [line for line in result.text.splitlines() if not re.match("  [a-z]", line)]  # without examples
    assert max(map(len, prose)) <= 80


def test_values_of_an_option_are_named(wfacli: Wfacli) -> None:
    for name in COMMANDS:
        text = wfacli(name, "--help-all", env=SCREEN).text.lower()
        choices = [
            c for p in loaded(name).params if not getattr(p, "hidden", False) for c in getattr(p.type, "choices", ())
        ]
        assert not [choice for choice in choices if str(choice).lower() not in text]
    assert "wavefront-table" in wfacli("align", "--help-all").text
    assert not re.search(r"-$", wfacli("align", "--help-all", env=environment(COLUMNS="100")).text, re.M)


def test_help_follows_the_width_of_the_terminal(wfacli: Wfacli) -> None:
    for columns in (60, 100):
        text = wfacli("align", "--help-all", env=environment(COLUMNS=str(columns))).text
        widest = max(len(line) for line in text.splitlines() if not line.startswith("  "))
        assert columns - 12 < widest <= columns


@pytest.mark.parametrize("name", ["align", "doctor"])
def test_help_command(wfacli: Wfacli, name: str) -> None:
    result = wfacli("help", name)
    assert_success(result)
    assert result.out == wfacli(name, "-h").out
    assert wfacli("help").out == wfacli("-h").out


def test_help_of_no_command(wfacli: Wfacli) -> None:
    assert_failure(wfacli("help", "bogus"), 2, "bogus")


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("man") / "man"
    subprocess.run([sys.executable, ROOT / "docs" / "man.py", folder], check=True)
    return folder


def test_manual_has_every_command_and_option(manual: Path) -> None:
    assert {path.name for path in manual.iterdir()} == {"wfacli.1", *(f"wfacli-{name}.1" for name in SHOWN)}
    for name in SHOWN:
        text = (manual / f"wfacli-{name}.1").read_text().replace("\\-", "-")
        heads = " ".join(re.findall(r"^\.TP\n\\fB(-.*)\\fR$", text, re.M))
        assert options_of(name) <= set(re.findall(r"(?<![\w-])--?[\w@][\w-]*", heads))
        assert COMMANDS[name].line.rstrip(".") in text


@pytest.mark.skipif(not shutil.which("groff"), reason="needs groff")
def test_manual_is_valid_roff(manual: Path) -> None:
    for path in sorted(manual.iterdir()):
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-k", path], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b""), path.name
