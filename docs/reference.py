"""Pages of reference, made from the code: what commands take (Typer), and what Python programs import (docstrings)."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import wfacli
from wfacli.cli.app import COMMANDS, loaded

_HEADING = re.compile(r"\[bold\]([^\[\n]+)\[/bold\]\n\n(?=  )")
_BOLD = re.compile(r"\[bold\]|\[/bold\]")
_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields):$")
_ENTRY = re.compile(r"^(\*{0,2}[\w.]+): (.*)$")
_CONSTANTS = {"NO_SCORE": "The score of a pair without an alignment: less than any score."}


def pages() -> dict[str, str]:
    """The pages' text, by their places in docs/."""
    return {"reference/cli.md": cli_page(), "reference/python.md": python_page()}


def cli_page() -> str:
    """Each command with its help and its options, in the panels of --help."""
    lines = ["# Commands and options", ""]
    lines += ["Made from the code: what `wfacli COMMAND --help` says, with everything in one place.", ""]
    for name, entry in COMMANDS.items():
        if not entry.hidden:
            lines += _command(name)
    return "\n".join(lines)


def _command(name: str) -> Iterator[str]:
    command = loaded(name)
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    usage = " ".join(p.metavar if p.required else f"[{p.metavar}]" for p in arguments)
    yield from (f"## wfacli {name}", "", "```text", f"wfacli {name} [OPTIONS] {usage}".rstrip(), "```", "")
    yield from _help(command.help)
    panels: dict[str, list[Any]] = {}
    for param in command.params:
        if not getattr(param, "hidden", False) and param.name != "help":
            panels.setdefault(param.rich_help_panel or f"{param.param_type_name}s", []).append(param)
    for panel, params in panels.items():
        yield from (f"### {name}: {panel[:1].lower()}{panel[1:]}", "", "| | |", "|---|---|")
        for param in params:
            yield f"| {_names(param)} | {_cell(_what(param))} |"
        yield ""


def _help(text: str) -> Iterator[str]:
    """Paragraphs as they are; the indented lines behind a heading as a block."""
    for paragraph in re.split(r"\n\n(?! )", _HEADING.sub(r"\1:\n\n", text.strip())):
        first, *rest = paragraph.split("\n\n")
        yield from (_escaped(_BOLD.sub("`", first).replace("`Scores`", "Scores")), "")
        if rest:
            yield from ("```text", *(line.strip() for part in rest for line in part.splitlines()), "```", "")


def _names(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{param.metavar}`"
    names = " / ".join([", ".join(f"`{o}`" for o in param.opts), *(f"`{o}`" for o in param.secondary_opts)])
    if param.is_flag:
        return names
    choices = getattr(param.type, "choices", None)
    # Many choices make a column that leaves no room for what they do.
    shown = param.metavar or ("|".join(choices) if choices and len(choices) <= 6 else "NAME" if choices else "N")
    return f"{names} " + ", ".join(f"`{one}`" for one in shown.split("|"))


def _what(param: Any) -> str:
    text = _escaped((param.help or "").replace(r"\[", "["))
    choices = getattr(param.type, "choices", None)
    if choices and len(choices) > 6 and not param.metavar:
        text += " One of " + ", ".join(f"`{c}`" for c in choices) + "."
    shown = getattr(param, "show_default", True)
    default = shown if isinstance(shown, str) else None
    plain = param.default is not None and not getattr(param, "is_flag", False) and param.default != ()
    if default is None and shown and plain and param.param_type_name == "option":
        default = f"`{getattr(param.default, 'value', param.default)}`"
    if param.param_type_name == "option" and param.required:
        text += " *Required.*"
    return text + (f" *Unless given:* {default}." if default else "")


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", r"\*")


def python_page() -> str:
    """Everything in wfacli.__all__, and what else one needs of it."""
    lines = ["# Python", "", "Made from the code. `import wfacli` starts no engine and needs no GPU.", ""]
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
    """A docstring in Google's style as Markdown."""
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
