"""Writes the manual pages, wfacli(1) and wfacli-COMMAND(1), from the same help as `--help-all`: man.py FOLDER."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from wfacli import __version__
from wfacli.cli.app import COMMANDS, loaded
from wfacli.cli.help_page import Item, Page, page_of

_ABOUT = "exact pairwise alignment of sequencing reads"
_STATUSES = {
    "0": "success",
    "1": "failure: an input, an output, the machine, or pairs without an alignment",
    "2": "wrong usage",
    "129, 130, 143": "ended by SIGHUP, SIGINT (Ctrl-C), SIGTERM",
    "141": "the reader of the output has closed it",
}


def pages() -> dict[str, str]:
    """Return the manual pages in roff, by their file names."""
    shown = [name for name, entry in COMMANDS.items() if not entry.hidden]
    commands = {f"wfacli-{name}.1": "\n".join(_command(page_of(loaded(name)))) + "\n" for name in shown}
    return {"wfacli.1": "\n".join(_program(shown)) + "\n", **commands}


def _program(names: list[str]) -> Iterator[str]:
    yield from _head("wfacli", _ABOUT)
    yield from (".B wfacli", r"\fICOMMAND\fR [\fIOPTIONS\fR] ...", ".SH COMMANDS")
    for name in names:
        yield from (".TP", rf"\fBwfacli\-{name}\fR(1)", _text(COMMANDS[name].line))
    yield ".SH EXIT STATUS"
    for status, meaning in _STATUSES.items():
        yield from (".TP", rf"\fB{status}\fR", _text(meaning))


def _command(page: Page) -> Iterator[str]:
    yield from _head(f"wfacli-{page.name}", page.summary.rstrip("."))
    yield from (rf"\fBwfacli {page.name}\fR {_text(page.usage.removeprefix(page.name).strip())}", ".SH DESCRIPTION")
    for heading, lines in page.parts:
        if heading:
            yield from (f".SH {heading.upper()}", ".nf", *map(_text, lines), ".fi")
        else:
            yield from (part for line in lines for part in (".PP", _text(line)))
    yield from _items("ARGUMENTS", page.arguments)
    yield ".SH OPTIONS"
    for panel, items in page.panels().items():
        yield from _items(panel, items, ".SS")
    yield from (".SH SEE ALSO", r"\fBwfacli\fR(1)")


def _head(name: str, about: str) -> Iterator[str]:
    yield f'.TH {name.upper()} 1 "" "wfacli {__version__}" "wfacli"'
    yield from (".SH NAME", rf"{_text(name)} \- {_text(about)}", ".SH SYNOPSIS")


def _items(heading: str, items: tuple[Item, ...] | list[Item], macro: str = ".SH") -> Iterator[str]:
    if items:
        yield f"{macro} {_text(heading)}"
    for item in items:
        default = f" Default: {item.default}." if item.default else ""
        yield from (".TP", rf"\fB{_text(item.names)}\fR", _text(item.text + default))


def _text(text: str) -> str:
    """Escape what roff would interpret: backslashes, hyphens, and a dot or an apostrophe that begins a line."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("·", r"\(pc")
    return r"\&" + escaped if escaped[:1] in (".", "'") else escaped


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in pages().items():
        (folder / file).write_text(text)
