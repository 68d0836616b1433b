"""The command of the mapper, and its start before the modules that read its output are imported."""

from __future__ import annotations

import contextlib
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

from ...errors import WfacliError, install
from ..read.urls import is_url
from ..write.python_child import python_command
from .presets import ASSEMBLIES, OVERLAPS, PAIRING
from .process import Process

_BY_MAPPY = """
from wfacli.errors import WfacliError
from wfacli.io.mapper.by_mappy import mappings
form, preset, threads, *paths = sys.argv[1:]
try:
    sys.stdout.writelines(mappings(form == "sam", preset, int(threads), *paths))
    sys.stdout.flush()
    print("[M::main] Real time: unknown", file=sys.stderr)  # as minimap2 does when it has written everything
except WfacliError as error:
    sys.exit(str(error))
"""
_ONE_INDEX = "1000G"  # bases of the reference in one index; with several, each would give its own mappings of a read
# Reads that minimap2 maps at a time (-K). Its default of 500 Mb delays the first mapping, and with it alignment, until
# so much is read. Fewer reads per thread would leave threads idle at the end of a batch, behind its longest reads.
_BATCH_PER_THREAD, _MIN_BATCH, _MAX_BATCH = 2, 4, 50  # Mb
# How much the mapper yields (nice): its threads never wait, while those that align its mappings wait for one another
# many times for each batch, and for a core each time.
_YIELDS = 5
_LAST_WORDS = "[M::main] Real time"  # of minimap2; exit status 0 alone is no proof that its output is complete
MAPPINGS = "minimap2"  # name of its output in messages
_HINT = f"put minimap2 on PATH (conda install -c bioconda minimap2), or {install('map')}"
_PROCESS_PATHS = ("/dev/stdin", "/dev/fd/", "/proc/self/")  # these names mean other files in the mapper's process


def mapper_command(preset: str, threads: int, reference: str, reads: Sequence[str]) -> list[str]:
    """Return the command that writes mappings: minimap2 if it is on PATH, otherwise its library.

    Args:
        preset: minimap2's preset; those in PAIRING write SAM, with flags of mates.
        threads: number of mapping threads.
        reference: path of the reference.
        reads: one path, or two with mates.

    Raises:
        WfacliError: neither is installed.
    """
    sam = preset in PAIRING
    if found := shutil.which("minimap2"):
        # Both forms have a line of each read (see MapperFiles.check_reported). Qualities are in the reads' own files.
        form = ["-a", "-Q"] if sam else ["--paf-no-hit"]
        options = ["-x", preset, *form, "-I", _ONE_INDEX, *_batch_options(preset, threads), "-t", str(threads)]
        return [found, *options, "--", reference, *reads]
    try:
        import mappy  # noqa: F401
    except ModuleNotFoundError:
        raise WfacliError(f"neither minimap2 nor its library, mappy, is installed: {_HINT}") from None
    return python_command(_BY_MAPPY, ["sam" if sam else "paf", preset, str(threads), reference, *reads])


def _batch_options(preset: str, threads: int) -> list[str]:
    # Each of the few, long sequences of an assembly is mapped by one thread: minimap2 needs all of them at once.
    if preset.startswith((ASSEMBLIES, OVERLAPS)):
        return []
    return ["-K", f"{min(max(_BATCH_PER_THREAD * threads, _MIN_BATCH), _MAX_BATCH)}M"]


def is_read_once(path: str) -> bool:
    """Return True for a pipe or device, or for a name that another process cannot open."""
    if path == "-" or path.startswith(_PROCESS_PATHS):
        return True
    with contextlib.suppress(OSError):  # opening the file later reports the error
        mode = Path(path).stat().st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


class EarlyMapper:
    """A context that starts the mapper at once, with the command for plain files, and ends it unless it is taken.

    Minimizers of the reference are computed meanwhile. Files that are opened later may need another command.
    """

    def __init__(self, preset: str, threads: int, reference: str, reads: Sequence[str]) -> None:
        """Take the arguments of mapper_command()."""
        self._preset, self._threads, self._paths = preset, threads, (reference, *reads)
        self._process: Process | None = None

    def __enter__(self) -> EarlyMapper:
        if all(map(_is_plain, self._paths)):
            with contextlib.suppress(WfacliError):  # the run says the same, or what is wrong with the files
                reference, *reads = self._paths
                self._process = start(mapper_command(self._preset, self._threads, reference, reads))
        return self

    def taken(self, command: Sequence[str]) -> Process | None:
        """Return the process, which the caller has to close, if it runs this command; otherwise end it."""
        process, self._process = self._process, None
        if process and process.command != tuple(command):
            process.close()
            return None
        return process

    def __exit__(self, *_error: object) -> None:
        self.taken(())


def start(command: Sequence[str], pass_fds: Sequence[int] = ()) -> Process:
    """Start the mapper; pass_fds: descriptors that it inherits. Raises InputError."""
    return Process(command, MAPPINGS, pass_fds, last_words=_LAST_WORDS, yields=_YIELDS)


def _is_plain(path: str) -> bool:
    return not (is_url(path) or is_read_once(path)) and Path(path).is_file()
