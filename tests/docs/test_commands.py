"""Run every command in README.md and docs/, in a folder with the example data, and compare the output with the page.

Blocks: `sh` are run; `console` are run too, with `$ ` before each command and then its output, in which `...` matches
anything; `python` are doctests. The blocks of a page run one after another in one folder. A block that cannot be run
gives the reason in a comment before it, `<!-- not run: needs a GPU -->`; `text` is for everything else.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from wfacli.cli.app import COMMANDS, loaded

from .pages import DOCS, ROOT, Block, blocks, names, prose
from .served import install

RUN = ("sh", "console", "python")
OTHERS = ("text", "groovy", "docker", "snakemake")
REASONS = re.compile(r"needs (a GPU|minimap2|Snakemake|Nextflow|a network|a container engine|a checkout)")
PAGES = ["../README.md", *names()]
WRITTEN = {name: (DOCS / name).read_text() for name in PAGES}
ELLIPSIS = doctest.ELLIPSIS


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the commands, and a substitute for minimap2 where it is not installed."""
    folder = tmp_path_factory.mktemp("bin")
    process = install(folder)
    yield folder
    process.kill()
    process.wait()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the example data."""
    shutil.copytree(ROOT / "data", tmp_path / "data", ignore=shutil.ignore_patterns("*.png", "*.py"))
    return tmp_path


def run(script: str, folder: Path, programs: Path, options: str) -> tuple[int, str]:
    """Run a script with these shell `options`; return its exit status and output."""
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "COLUMNS": "100", "LC_ALL": "C.UTF-8", "TERM": "dumb",
                   "HOME": str(folder), "CUDA_VISIBLE_DEVICES": ""}  # fmt: skip
    shell = ["bash", options, "pipefail", "-c", script]
    done = subprocess.run(shell, cwd=folder, env=environment, text=True, timeout=60, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    return done.returncode, done.stdout


def shown(page: str) -> str:
    """Return the path of a page in the repository."""
    return os.path.normpath(f"docs/{page}")


def steps(block: Block) -> Iterator[tuple[str, str | None]]:
    """Yield commands with their expected output; a block without output is yielded as a whole."""
    if block.language == "sh":
        yield block.text, None
        return
    assert block.text.startswith("$ "), "a console block begins with `$ `"
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, printed = re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part, re.DOTALL).groups()
        yield command, printed


def try_python(block: Block, page: str, known: dict[str, object]) -> str:
    """Return the differences from a doctest; `known` holds names defined by earlier blocks of the page."""
    example = doctest.DocTestParser().get_doctest(block.text, known, page, page, block.line)
    assert example.examples, "a python block is a doctest"
    said: list[str] = []
    doctest.DocTestRunner(optionflags=ELLIPSIS).run(example, out=said.append, clear_globs=False)
    known.update(example.globs)
    return "".join(said)


@pytest.mark.parametrize("page", [p for p in PAGES if any(b.language in RUN for b in blocks(WRITTEN[p]))])
def test_commands_do_what_the_page_shows(page, folder, programs, monkeypatch):
    monkeypatch.chdir(folder)
    same = doctest.OutputChecker().check_output
    known: dict[str, object] = {}
    for block in blocks(WRITTEN[page]):
        if block.not_run or block.language not in RUN:
            continue
        where = f"{shown(page)}, line {block.line}"
        if block.language == "python":
            assert not try_python(block, page, known), where
            continue
        for command, expected in steps(block):
            # A command followed by `echo $?` may fail, and one piped to head may get SIGPIPE.
            code, printed = run(command, folder, programs, "-uo" if "echo $?" in command else "-euo")
            assert code == 0 or (code == 141 and "| head" in command), f"{where}: {command}{printed}"
            output = [line.rstrip() for line in printed.splitlines()]
            wanted = [line.rstrip() for line in (expected or "").splitlines()]
            right = expected is None or same("\n".join(wanted) + "\n", "\n".join(output) + "\n", ELLIPSIS)
            assert right, f"{where}: {command}shown:\n{expected}\nprinted:\n{printed}"


@pytest.mark.parametrize("page", PAGES)
def test_no_block_is_neither_run_nor_says_why(page):
    for block in blocks(WRITTEN[page]):
        where = f"{shown(page)}, line {block.line}"
        assert block.language in RUN + OTHERS, f"{where}: language {block.language!r}"
        assert not block.not_run or REASONS.fullmatch(block.not_run), f"{where}: {block.not_run}"
        assert block.language in (*RUN, "text") or block.not_run, f"{where}: neither run nor marked"
        assert block.language != "text" or "wfacli " not in block.text, f"{where}: a command in a text block"


def options(command: str) -> set[str]:
    return {name for param in loaded(command).params for name in (*param.opts, *param.secondary_opts)} | {
        "--help",
        "-h",
    }


@pytest.mark.parametrize("page", PAGES)
def test_options_exist(page):
    """Check options of all commands on a page, also in text and in blocks that are not run."""
    known = {name: options(name) for name in COMMANDS}
    anywhere = set().union(*known.values()) | {"--version"}
    for command, rest in re.findall(r"wfacli (\w+)((?:\\\n|[^|&;`\n])*)", WRITTEN[page]):
        if command in known:
            asked = set(re.findall(r"(?<=\s)--?[a-zA-Z][\w-]*", rest))
            assert asked <= known[command], f"{shown(page)}: wfacli {command}"
    assert set(re.findall(r"`(--[a-z][a-z-]+)", prose(WRITTEN[page]))) <= anywhere
