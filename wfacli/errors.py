"""What can go wrong, as exceptions; only wfacli.cli turns them into messages and exit codes."""

from __future__ import annotations


class WfacliError(Exception):
    """Base of the errors that a user can cause or meet; the command ends with status 1."""


class UsageError(WfacliError):
    """Options that make no sense, alone or together; the command ends with status 2."""


_SHOWN = 300  # letters of a record's name in a message: more than SAM allows


class InputError(WfacliError):
    """Data that cannot be read.

    Attributes:
        path: the file as the user named it.
        record: name of the record at fault, or "".
        line: its line in the file, counted from 1, or 0 where none is to blame.
    """

    def __init__(self, path: str, message: str, record: str = "", line: int = 0) -> None:
        self.path, self.record, self.line = path, record, line
        where = path
        if line:
            where += f", line {line}"
        if record:
            shown = record if len(record) <= _SHOWN else f"{record[:_SHOWN]}... ({len(record):,} letters)"
            where += f", record {shown}"
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
    """The GPU cannot be used, or failed: no driver, card or compiler, a kernel that faulted, a card that is gone."""


class OutOfDeviceMemory(DeviceError):
    """The card has less memory left than was asked for; less work at a time may still fit."""
