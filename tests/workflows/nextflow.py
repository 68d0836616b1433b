"""The processes of workflows/nextflow, and their scripts as Nextflow would execute them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .support import ROOT

FOLDER = ROOT / "nextflow"
MODULES = sorted((FOLDER / "modules/wfacli").iterdir())
_VARIABLE = re.compile(r"\$\{([\w.]+)\}")


@dataclass(frozen=True)
class Process:
    """A process.

    Attributes:
        name: its name.
        labels: its labels.
        inputs: the name of each input; those of a tuple are together.
        outputs: the names that outputs are emitted as, with the patterns of files.
        blocks: the lines of script and stub.
    """

    name: str
    labels: list[str]
    inputs: list[list[str]]
    outputs: dict[str, list[str]]
    blocks: dict[str, list[str]]

    def rendered(self, kind: str, values: dict[str, str]) -> str:
        """Return a block, `script` or `stub`, as the shell gets it."""
        known = dict(values)
        script: list[str] = []
        quoted = False
        for line in self.blocks[kind]:
            if line.strip() == '"""':
                quoted = not quoted
            elif quoted:
                script.append(_substituted(line.strip(), known))
            elif found := re.fullmatch(r"\s*(?:def )?(\w+) = (.*)", line):
                known[found[1]] = _value(found[2], known)
            else:
                assert not line.strip() or line.strip().startswith("//"), line
        return "\n".join(script)

    def output(self, name: str, values: dict[str, str]) -> list[str]:
        """Return the patterns of the files of an output."""
        known = {"prefix": values["meta.id"], **values}
        return [_substituted(pattern, known) for pattern in self.outputs[name]]


def _substituted(text: str, values: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda match: values[match[1]], text)


def _value(expression: str, values: dict[str, str]) -> str:
    """Return the value of `A ?: 'default'`, or of `A ? 'one' : 'other'`."""
    if found := re.fullmatch(r"([\w.]+) \?: (['\"])(.*)\2", expression):
        return values.get(found[1]) or _substituted(found[3], values)
    found = re.fullmatch(r"([\w.]+) \? '(.*)' : '(.*)'", expression)
    assert found, expression
    return found[2] if values.get(found[1]) else found[3]


def process_of(module: Path) -> Process:
    """Return the process of a module."""
    text = (module / "main.nf").read_text()
    found = re.fullmatch(r"process (\w+) \{\n(.*)\}\n", text, re.DOTALL)
    assert found, module
    parts = re.split(r"^    (input|output|when|script|stub):\n", found[2], flags=re.MULTILINE)
    blocks = dict(zip(parts[1::2], parts[2::2], strict=True))
    outputs: dict[str, list[str]] = {}
    for line in filter(str.strip, blocks["output"].splitlines()):
        emitted = re.search(r"emit: (\w+)", line)
        assert emitted, line
        outputs[emitted[1]] = re.findall(r'path\("([^"]*)"\)', line)
    inputs = [re.findall(r"(?:val|path|each)[ (](\w+)", line) for line in blocks["input"].splitlines() if line.strip()]
    return Process(
        found[1],
        re.findall(r"^    label '(\w+)'", parts[0], re.MULTILINE),
        inputs,
        outputs,
        {kind: blocks[kind].splitlines() for kind in ("script", "stub")},
    )
