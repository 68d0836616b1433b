"""What can go wrong, as exceptions; only wfacli.cli turns them into messages and exit codes."""

from __future__ import annotations


def text_of(name: bytes) -> str:
    """Return a name as text without loss: a byte that is not UTF-8 becomes a surrogate, as in names of files."""
    return name.decode(errors="surrogateescape")


def shown(name: str | bytes) -> str:
    r"""Return a name, or a message that holds names, as a terminal may show it.

    Characters that cannot be printed (control characters, among them line feeds and those that begin escape
    sequences, and what reorders text) and bytes that are not UTF-8 are written as `\x1b` and the like.
    """
    text = text_of(name) if isinstance(name, bytes) else name
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()


class WfacliError(Exception):
    """Base of the errors that a user can cause or meet; the command ends with status 1.

    Its text may be shown on a terminal whatever names it holds: see shown().
    """

    def __str__(self) -> str:
        return shown(super().__str__())


class UsageError(WfacliError):
    """Options that make no sense, alone or together; the command ends with status 2."""


_SHOWN = 300  # letters of a record's name in a message: more than SAM allows


class InputError(WfacliError):
    """Data that cannot be read.

    Attributes:
        path: the file as the user named it.
        record: name of the record at fault, or ""; see text_of() for what is not UTF-8.
        line: its line in the file, counted from 1, or 0 where none is to blame.
    """

    def __init__(self, path: str, message: str, record: str | bytes = "", line: int = 0) -> None:
        record = text_of(record) if isinstance(record, bytes) else record
        self.path, self.record, self.line = path, record, line
        where = path
        if line:
            where += f", line {line}"
        if record:
            part = record if len(record) <= _SHOWN else f"{record[:_SHOWN]}... ({len(record):,} letters)"
            where += f", record {part}"
        super().__init__(f"{where}: {message}")


class OutputError(WfacliError):
    """Output that cannot be written."""


class OutputClosed(WfacliError):
    """Whoever read the output has closed it; nothing to complain about."""


class InternalError(WfacliError):
    """A result that fails its own check: a defect of wfacli, never of the data."""


class Cancelled(WfacliError):
    """The work was stopped from outside before it was complete."""


class DeviceError(WfacliError):
    """The GPU cannot be used, or failed: no driver, GPU or compiler, a kernel that faulted, a GPU that is gone."""


class OutOfDeviceMemory(DeviceError):
    """The GPU has less memory left than was asked for; less work at a time may still fit."""
