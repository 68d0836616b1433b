"""Reference pages, made from the code: options of the commands, and docstrings of what Python programs import."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import wfacli
from wfacli.cli.app import COMMANDS, loaded
from wfacli.cli.help_page import Item, Page, page_of

_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields):$")
_ENTRY = re.compile(r"^(\*{0,2}[\w.]+): (.*)$")
_CONSTANTS = {"NO_SCORE": "The score of a pair without an alignment: less than any score."}


def pages() -> dict[str, str]:
    """Return the text of the pages, by their places in docs/."""
    return {"reference/cli.md": cli_page(), "reference/python.md": python_page()}


def cli_page() -> str:
    """Each command with its help and its options, as `--help-all` shows them."""
    lines = ["# Commands and options", ""]
    lines += ["What `wfacli COMMAND --help-all` shows, for all commands.", ""]
    for name, entry in COMMANDS.items():
        if not entry.hidden:
            lines += _command(page_of(loaded(name)))
    return "\n".join(lines)


def _command(page: Page) -> Iterator[str]:
    yield from (f"## wfacli {page.name}", "", "```text", f"wfacli {page.usage}", "```", "")
    for heading, lines in page.parts:
        if heading:
            yield from (f"{heading}:", "", "```text", *lines, "```", "")
        else:
            yield from (part for line in lines for part in (_escaped(line), ""))
    panels = {"Arguments": list(page.arguments)} if page.arguments else {}
    for panel, items in (panels | page.panels()).items():
        yield from (f"### {page.name}: {panel[:1].lower()}{panel[1:]}", "", "| | |", "|---|---|")
        for item in items:
            yield f"| `{_cell(item.names)}` | {_cell(_what(item))} |"
        yield ""


def _what(item: Item) -> str:
    text = _escaped(item.text)
    if item.required and item.names.startswith("-"):
        text += " *Required.*"
    return text + (f" *Default:* {_escaped(item.default)}." if item.default else "")


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", r"\*")


def python_page() -> str:
    """Return the page of everything in wfacli.__all__."""
    lines = ["# Python", "", "`import wfacli` starts no engine and needs no GPU.", ""]
    for name in sorted(wfacli.__all__, key=lambda n: (not n[0].islower(), n)):
        if name == "__version__":
            continue
        value = getattr(wfacli, name)
        if inspect.isclass(value):
            lines += _class(name, value)
        elif callable(value):
            lines += [f"## {name}", "", *_signature(name, value), *_docstring(value.__doc__)]
        else:
            lines += [f"## {name}", "", f"`{value}`. {_CONSTANTS[name]}", ""]
    return "\n".join(lines)


def _class(name: str, value: type) -> Iterator[str]:
    yield from (f"## {name}", "")
    if issubclass(value, enum.Enum):
        yield from _docstring(value.__doc__)
        yield from (f"- `{item.name}` = {item.value!r}" for item in value)
        yield ""
        return
    own = vars(value)
    if "__init__" in own and not dataclasses.is_dataclass(value):
        yield from _signature(name, own["__init__"])
    yield from _docstring(value.__doc__)
    if "__init__" in own and own["__init__"].__doc__ and not dataclasses.is_dataclass(value):
        yield from _docstring(own["__init__"].__doc__)
    for member, part in own.items():
        if not member.startswith("_") and (doc := getattr(part, "__doc__", None)):
            if inspect.isfunction(part):
                yield from (f"### {name}.{member}", "", *_signature(member, part), *_docstring(doc))
            elif isinstance(part, property) or type(part).__name__ == "cached_property":
                yield from (f"### {name}.{member}", "", *_docstring(doc))


def _signature(name: str, function: Callable[..., Any]) -> Iterator[str]:
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    # Annotations are strings where the code is read, with private names: keep names and defaults.
    bare = signature.replace(parameters=[p.replace(annotation=p.empty) for p in parameters])
    short = str(bare.replace(return_annotation=signature.empty))
    if len(name + short) > 90:
        short = "(\n    " + short[1:-1].replace(", ", ",\n    ").replace(",\n    0", ", 0") + ",\n)"
    yield from ("```python", f"{name}{short}", "```", "")


def _docstring(text: str | None) -> Iterator[str]:
    """Yield a docstring in Google's style as Markdown."""
    doctest: list[str] = []
    section = ""
    for line in [*inspect.cleandoc(text or "").splitlines(), ""]:
        if line.startswith((">>> ", "... ")) or (doctest and line):
            doctest.append(line)
            continue
        if doctest:
            yield from ("```python", *doctest, "```", "")
            doctest = []
        if found := _SECTION.match(line):
            section = found[1]
            yield from (f"**{found[1]}**", "")
        elif entry := section and _ENTRY.match(line.removeprefix("    ")):
            yield f"- `{entry[1]}`: {_escaped(entry[2])}"
        elif line.startswith(" ") and section and section != "Returns":
            yield f"  {_escaped(line.strip())}"
        else:
            section = section if line.startswith(" ") else ""
            yield _escaped(line.strip())
    yield ""
