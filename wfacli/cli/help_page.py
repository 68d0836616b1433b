"""Help of the commands as plain text: most people's options on one screen (`-h`), all of them (`--help-all`).

The pages are made from Typer's commands. The first sentence of an option's help is what `-h` shows; the same pages
become the reference of the site and the manual (docs/reference.py, docs/man.py).
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_WIDEST, _NARROWEST = 100, 50
_INDENT, _COLUMN = 8, 30  # of a text below its option (--help-all), and beside it (-h)
_EXAMPLES = "Examples"
_HEADING = re.compile(r"^\[bold\]([^\[\n]+)\[/bold\]$")
_SENTENCE = re.compile(r"(?<=[.)])\s+(?=[A-Z('-])")

# Options that `-h` shows, in this order.
COMMON = {
    "align": "output format metric penalties match mode score-only max-cost mappings preset sort threads engine "
    "report quiet",
    "map": "preset output format sort write-index read-group md cs span threads engine report stats quiet",
    "extend": "mode scores matrix gaps all pair-list output format score-only band zdrop threads engine report quiet",
    "plan": "shards output to status parts progress quiet",
    "merge": "output sort write-index parts threads progress quiet",
    "distance": "path output json plot max-distance lines text query-name target-name checkpoint resume threads",
    "local": "query-name target-name scores matrix top score-only output json plot checkpoint resume threads engine",
    "dotplot": "output alignments query-name target-name kmer ambiguous text size",
    "simulate": "pairs length error model reference paired insert output truth seed threads quiet",
    "bench": "quick length error pairs metric task engine threads stats plot minutes",
    "doctor": "json device",
    "kernels": "into arch",
}


@dataclass(frozen=True)
class Item:
    """An option or an argument.

    Attributes:
        names: its names and metavar, as in `-o, --output FILE`.
        long: its longest name; of an argument its metavar.
        text: what it does, without its default.
        default: its default, as text; "" if none is shown.
        panel: heading of its group.
        required: True if the command fails without it.
    """

    names: str
    long: str
    text: str
    default: str
    panel: str
    required: bool

    @property
    def first_sentence(self) -> str:
        """The first sentence of the text, without its full stop."""
        first = _SENTENCE.split(self.text, maxsplit=1)[0]
        return first if first.endswith("...") else first.removesuffix(".")

    def described(self, text: str) -> str:
        """Return a text with the default behind it."""
        return f"{text} [{self.default}]" if self.default else text


@dataclass(frozen=True)
class Page:
    """Help of a command.

    Attributes:
        name: name of the command.
        usage: the line of usage, without "wfacli".
        summary: what it does, in one line.
        parts: (heading, lines) of the text; the heading of the first is "".
        arguments, options: what it takes.
    """

    name: str
    usage: str
    summary: str
    parts: tuple[tuple[str, tuple[str, ...]], ...]
    arguments: tuple[Item, ...]
    options: tuple[Item, ...]

    @property
    def examples(self) -> tuple[str, ...]:
        """Example commands."""
        return next((lines for heading, lines in self.parts if heading == _EXAMPLES), ())

    def panels(self) -> dict[str, list[Item]]:
        """Return the options by panel, in the order of the panels' first options."""
        found: dict[str, list[Item]] = {}
        for item in self.options:
            found.setdefault(item.panel, []).append(item)
        return found


def page_of(command: Any) -> Page:
    """Return the page of a command of Typer."""
    params = [param for param in command.params if not getattr(param, "hidden", False)]
    arguments = tuple(_argument(param) for param in params if param.param_type_name == "argument")
    options = tuple(_option(param) for param in params if param.param_type_name == "option")
    words = " ".join(
        item.long if item.required else f"[{item.long.strip('[]').removesuffix(']...')}]" for item in arguments
    )
    more = "..." if any("..." in item.long for item in arguments) else ""
    parts = tuple(_parts(command.help))
    return Page(
        command.name,
        f"{command.name} [OPTIONS] {words}{more}".rstrip(),
        command.help.strip().splitlines()[0],
        parts,
        arguments,
        options,
    )


def short_help(page: Page) -> str:
    """Return what most people need of a page, for one screen."""
    return "\n".join(_short(page, _width())) + "\n"


def full_help(page: Page) -> str:
    """Return a whole page."""
    return "\n".join(_full(page, _width())) + "\n"


def command_list(commands: Sequence[tuple[str, str]], options: Sequence[tuple[str, str]]) -> str:
    """Return the help of the program: its commands and its own options, each with a line."""
    lines = [
        "Usage: wfacli COMMAND [OPTIONS] ...",
        "",
        "Exact pairwise alignment of sequencing reads.",
        "",
        "Commands:",
    ]
    for name, line in commands:
        lines += _beside(name, line, _width(), 12)
    lines += ["", "Options:"]
    for name, line in options:
        lines += _beside(name, line, _width())
    return "\n".join([*lines, "", "Help of a command: wfacli COMMAND -h, or wfacli help COMMAND", ""])


def _short(page: Page, width: int) -> Iterator[str]:
    yield from (f"Usage: wfacli {page.usage}", "")
    yield from (*_wrapped(page.summary, width), "")
    for item in page.arguments:
        yield from _beside(item.long.strip("[]").replace("]...", ""), item.first_sentence, width)
    if page.arguments:
        yield ""
    by_name = {item.long: item for item in page.options}
    yield "Options:"
    common = [f"--{name}" for name in COMMON[page.name].split()]
    if not by_name.keys() >= {*common}:  # with --plan, a command has few options
        common = list(by_name)
    for name in common:
        item = by_name[name]
        yield from _beside(item.names, item.described(item.first_sentence), width)
    if len(common) < len(page.options) - 1:
        yield from ("", f"All {len(page.options)} options: wfacli {page.name} --help-all")
    if page.examples:
        yield from ("", "Examples:", *(f"  {line}" for line in page.examples[:2]))


def _full(page: Page, width: int) -> Iterator[str]:
    yield from (f"Usage: wfacli {page.usage}", "")
    for heading, lines in page.parts:
        if heading:
            yield from (f"{heading}:", *(f"  {line}" for line in lines), "")
            continue
        for paragraph in lines:
            yield from (*_wrapped(paragraph, width), "")
    yield from _group("Arguments", page.arguments, width)
    for panel, items in page.panels().items():
        yield from _group(panel, items, width)


def _group(heading: str, items: Sequence[Item], width: int) -> Iterator[str]:
    if not items:
        return
    yield f"{heading}:"
    for item in items:
        yield f"  {item.names}"
        text = item.described(item.text) + (" Required." if item.required and item.names.startswith("-") else "")
        yield from (" " * _INDENT + line for line in _wrapped(text, width - _INDENT))
    yield ""


def _beside(left: str, right: str, width: int, column: int = _COLUMN) -> list[str]:
    """Return a text beside a name; below it, if the name is too long."""
    lines = _wrapped(right, width - column) or [""]
    head = f"  {left}"
    first = [f"{head:<{column}}{lines.pop(0)}".rstrip()] if len(head) < column - 1 else [head]
    return first + [" " * column + line for line in lines]


def _wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a paragraph; names of options are not divided."""
    return textwrap.wrap(text, width, break_on_hyphens=False)


def _width() -> int:
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))


def _parts(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the sections of a command's help: paragraphs without a heading, and headings with their lines."""
    heading, lines = "", list[str]()
    for paragraph in text.strip().split("\n\n"):
        if found := _HEADING.match(paragraph.strip()):
            yield heading, tuple(lines)
            heading, lines = found[1], []
        elif heading and not paragraph.startswith("  "):
            yield heading, tuple(lines)
            heading, lines = "", [_plain(paragraph)]
        elif heading:
            lines += [line.strip() for line in paragraph.splitlines()]
        else:
            lines.append(_plain(paragraph))
    yield heading, tuple(lines)


def _plain(text: str) -> str:
    return re.sub(r"\[/?bold\]", "", text).replace("\n", " ")


def _argument(param: Any) -> Item:
    name = param.metavar or param.name.upper()
    return Item(name.strip("[]").replace("]...", ""), name, param.help or "", "", "Arguments", param.required)


def _option(param: Any) -> Item:
    names = sorted(param.opts, key=len)
    spelled = ", ".join(names)
    if param.secondary_opts:
        spelled += f", {', '.join(param.secondary_opts)}"
    if not param.is_flag:
        spelled += f" {_metavar(param)}"
    panel = param.rich_help_panel or "Other"
    text = (param.help or "") + _choices(param)
    return Item(spelled, max(param.opts, key=len), text, _default(param), panel, param.required)


def _choices(param: Any) -> str:
    """Return a sentence with the values of an option, if neither its metavar nor its help names them."""
    names = [str(choice) for choice in getattr(param.type, "choices", None) or ()]
    known = f"{param.metavar or _metavar(param)} {param.help}".lower()
    return "" if all(name.lower() in known for name in names) else f" One of {', '.join(names)}."


def _metavar(param: Any) -> str:
    if param.metavar:
        return str(param.metavar)
    choices = getattr(param.type, "choices", None)
    joined = "|".join(map(str, choices or ()))
    return "N" if not choices else joined if len(joined) <= 24 else "NAME"


def _default(param: Any) -> str:
    shown = param.show_default
    if isinstance(shown, str):
        return shown
    if not shown or param.default is None or param.default == ():
        return ""
    if param.secondary_opts:
        return str((param.opts if param.default else param.secondary_opts)[0])
    return "" if param.is_flag or param.required else str(getattr(param.default, "value", param.default))
