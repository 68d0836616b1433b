"""Exceptions of wfacli; only wfacli.cli turns them into messages and exit statuses."""

from __future__ import annotations

_RELEASED = False  # True once `pip install wfacli` finds a package
# Python finds the source before the installed package if it is started in a checkout.
NOT_COMPILED = "wfacli's source is in this folder, its compiled module is not: start Python in another folder"


def install(extra: str) -> str:
    """Return the command that installs an extra; until there is a release, in the folder of the source."""
    return f"pip install 'wfacli[{extra}]'" if _RELEASED else f"pip install '.[{extra}]' in wfacli's source folder"


def text_of(name: bytes) -> str:
    """Decode a name without loss: bytes that are not UTF-8 become surrogates, as in Python's file names."""
    return name.decode(errors="surrogateescape")


def shown(name: str | bytes) -> str:
    r"""Return a name, or a message that contains names, in a form that is safe to print on a terminal.

    Unprintable characters (control characters, including line feeds and the start of escape sequences, and characters
    that change the direction of text) and bytes that are not UTF-8 are escaped, for example as `\x1b`.
    """
    text = text_of(name) if isinstance(name, bytes) else name
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()


class WfacliError(Exception):
    """Base class of errors caused by the user or the environment; the command exits with status 1.

    The text is safe to print on a terminal, whatever names it contains: see shown().
    """

    def __str__(self) -> str:
        return shown(super().__str__())


class UsageError(WfacliError):
    """Invalid options or combinations of options; the command exits with status 2."""


_SHOWN = 300  # maximum characters of a record's name in a message, more than SAM allows in a name


class InputError(WfacliError):
    """Input data that cannot be read.

    Attributes:
        path: the file as the user named it.
        record: name of the faulty record, or ""; text_of() says how bytes that are not UTF-8 are represented.
        line: line number in the file, from 1; 0 if the error is not at a particular line.
    """

    def __init__(self, path: str, message: str, record: str | bytes = "", line: int = 0) -> None:
        record = text_of(record) if isinstance(record, bytes) else record
        self.path, self.record, self.line = path, record, line
        where = path
        if line:
            where += f", line {line}"
        if record:
            part = record if len(record) <= _SHOWN else f"{record[:_SHOWN]}... ({len(record):,} characters)"
            where += f", record {part}"
        super().__init__(f"{where}: {message}")


class OutputError(WfacliError):
    """Output that cannot be written."""


class OutputClosed(WfacliError):
    """The reader of the output has closed it, which is not an error of the run."""


class InternalError(WfacliError):
    """A result that fails its own verification: a bug in wfacli, not an error in the data."""


class Cancelled(WfacliError):
    """The work was cancelled before it was complete."""


class DeviceError(WfacliError):
    """The GPU cannot be used or failed: no driver, GPU or compiler, a kernel fault, or a lost GPU."""


class OutOfDeviceMemory(DeviceError):
    """Too little free GPU memory; a smaller batch may still fit."""
