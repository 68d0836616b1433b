"""Former names of options and values: they work as before, are in no help, and print a warning of one line."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from typer.core import TyperOption

from .console import warning

# By command: former names of options, with the present ones; a flag may have become a value of another option.
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "align": {"--max-score": "--max-cost"},
    "extend": {"--bandwidth": "--band", "--pairs": "--pair-list"},
    "distance": {"--name-a": "--query-name", "--name-b": "--target-name"},
    "local": {"--name-a": "--query-name", "--name-b": "--target-name"},
    "dotplot": {"--path": "--alignments", "--literal": "--ambiguous literal"},
    "bench": {"--json": "--stats"},
    "doctor": {"--gpu": "--device"},
}
# By command and option: former values, with the present ones.
VALUES: Mapping[str, Mapping[str, Mapping[str, str]]] = {"align": {"--mode": {"hw": "semiglobal"}}}


def accept_old_names(command: Any, name: str) -> None:
    """Let a command of Typer accept the former names of its options and values.

    Args:
        command: the command; it is changed.
        name: its name, by which the former names are found.
    """
    by_name = {opt: param for param in command.params for opt in param.opts}
    for old, new in OPTIONS.get(name, {}).items():
        option, _, constant = new.partition(" ")
        command.params.append(_OldOption(by_name[option], old, new, constant))
    for option, values in VALUES.get(name, {}).items():
        _accept_old_values(by_name[option].type, option, values)


class _OldOption(TyperOption):
    """A hidden option whose value becomes that of another one; with `constant`, a flag that stands for this value."""

    def __init__(self, new: Any, old: str, new_name: str, constant: str = "") -> None:
        super().__init__(
            param_decls=[old, f"old_{new.name}"],
            type=bool if constant else new.type,
            multiple=new.multiple and not constant,
            is_flag=bool(constant) or new.is_flag,
            hidden=True,
            expose_value=False,
            is_eager=True,  # handled before the option whose value it sets
        )
        self._new, self._old, self._new_name, self._constant = new, old, new_name, constant

    def handle_parse_result(self, ctx: Any, opts: Any, args: list[str]) -> Any:
        """Hand the value to the new option, unless that has one itself."""
        if (value := opts.pop(self.name, None)) is not None and not ctx.resilient_parsing:
            _tell(self._old, self._new_name)
            opts.setdefault(self._new.name, self._constant or value)
        return None, args


def _accept_old_values(type_: Any, option: str, values: Mapping[str, str]) -> None:
    convert = type_.convert

    def lenient(value: Any, param: Any, ctx: Any) -> Any:
        if new := values.get(str(value)):
            _tell(f"{option} {value}", f"{option} {new}")
        return convert(new or value, param, ctx)

    type_.convert = lenient


def _tell(old: str, new: str) -> None:
    if not {"-q", "--quiet"} & set(sys.argv):
        warning(f"{old} is now called {new}; the former name still works")
