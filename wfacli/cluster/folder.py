"""The work folder of a run on a cluster: the plan, the parts, and a file by which workers recognize the folder."""

from __future__ import annotations

import contextlib
import json
import os
import secrets

from ..errors import InputError, OutputError
from ..io.read.remote import create_folder, empty, exists, open_binary, remove, remove_folder
from ..io.read.urls import joined
from ..io.write.output import Output

PLAN, TOKEN = "run.plan", "wfacli-work.json"
_PARTS = f"{PLAN}.parts"


class WorkFolder:
    """A folder that every worker sees, or the URL of one.

    Attributes:
        path: its path.
        plan: path of the plan.
        token_file: path of the file that workers must find.
        token: its content.
        ours: True if a run made the folder, so that it can be removed.
    """

    def __init__(self, path: str) -> None:
        """Create the folder, unless it exists. Raises OutputError, InputError."""
        self.path = path
        self.plan, self.token_file = joined(path, PLAN), joined(path, TOKEN)
        try:
            if not exists(self.token_file):
                new = empty(path)
                create_folder(path)
                data = json.dumps({"made": new, "token": secrets.token_hex(8)})
                Output(self.token_file).write_whole(data.encode())
        except OSError as error:
            raise OutputError(f"{path}: cannot be created: {error.strerror or error}") from None
        try:
            with open_binary(self.token_file) as file:
                self.token = file.read().decode()
            self.ours = bool(json.loads(self.token)["made"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(self.token_file, f"cannot be read ({error}): give --work another folder") from None

    def remove(self) -> None:
        """Remove the folder if a run made it. What others put there stays, and so does the folder then."""
        if not self.ours:
            return
        with contextlib.suppress(OSError):
            remove_folder(joined(self.path, _PARTS))
            for name in (self.plan, self.token_file):
                remove(name)
            remove_folder(self.path, only_empty=True)


def default_folder(output: str) -> str:
    """Return the work folder of an output: beside it."""
    return f"{output.rstrip(os.sep)}.work"
