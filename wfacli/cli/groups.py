"""Groups of options: dataclasses whose fields become parameters of a command.

Typer reads options from the signature of a function. A command that is decorated by `grouped` takes groups instead,
each a dataclass with an annotated field per option, so that options which several commands share are declared once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter
from typing import Any, TypeVar, get_type_hints

Result = TypeVar("Result")

# Panels of help.
INPUT, MAPPED, SCORING, SPAN = "Input", "Reads against a reference", "Scoring", "Span"
HEURISTICS = "Heuristics (may miss the best alignment)"
OUTPUT, LONG_RUNS, ENGINE, REPORTING = "Output", "Long runs", "Engine", "Reporting"
SHARDS, CLUSTER = "Shards of a plan", "On a cluster"


def grouped(command: Callable[..., Result]) -> Callable[..., Result]:
    """Return a command for Typer: each parameter whose type is a dataclass is replaced by the fields of that class.

    Args:
        command: takes groups and single options by keyword. Options appear in its help in the order of its
            parameters, those of a group in the order of the fields.

    Raises:
        ValueError: two options have the same name.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Any]] = {}
    parameters: list[Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hint := hints[name]) and isinstance(hint, type):
            groups[name] = hint
            parameters += _parameters(hint)
        else:
            parameters.append(parameter.replace(annotation=hint))

    @functools.wraps(command)
    def flat(**options: Any) -> Result:
        made = {
            name: group(**{field.name: options.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return command(**made, **options)

    signature = inspect.Signature(parameters)  # raises if a name occurs twice
    flat.__signature__ = signature  # type: ignore[attr-defined]
    flat.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return flat


def _parameters(group: type[Any]) -> list[Parameter]:
    """Return the fields of a dataclass as keyword parameters, with their defaults."""
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
