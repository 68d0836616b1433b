"""The command line; the only package that prints messages and chooses exit statuses."""

from .early import EXIT_SIGNAL, Imports, catch_early

catch_early()  # before everything else is imported

import errno
import os
import signal
import sys
import warnings
from io import TextIOWrapper
from typing import Any

EXIT_FAILURE, EXIT_USAGE = 1, 2
EXIT_PIPE = EXIT_SIGNAL + signal.SIGPIPE

# Set before numpy is imported: its linear algebra is not used here, and the OpenBLAS threads would only spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from ..errors import NOT_COMPILED, OutputClosed, UsageError, WfacliError
from .console import error, redirect_to_null, warning
from .signals import Terminated, catch, ignore

# Messages of Python and the C library when memory or a resource limit prevents a thread.
_NO_THREAD = ("can't start new thread", "Resource temporarily unavailable", "Cannot allocate memory")

# Messages of Python when an import runs out of memory.
_NO_IMPORT = ("error return without exception set", "returned NULL without setting an exception")


def _drop_stdout() -> None:
    # Buffered output cannot be written any more, and Python must not report that while it shuts down.
    redirect_to_null(1)


def _keep_closed_streams_closed() -> None:
    # Otherwise the next opened file would become standard input or output. /dev/null is opened for the opposite
    # direction, so that any use of it still fails.
    for descriptor, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(os.open(os.devnull, mode), descriptor)


def _is_expected(problem: BaseException) -> bool:
    """Return True for errors due to inputs or resource limits; others are defects, whose Python traceback is shown."""
    if isinstance(problem, SystemError):  # an import that ran out of memory
        return any(words in str(problem) for words in _NO_IMPORT)
    return not isinstance(problem, RuntimeError) or any(words in str(problem) for words in _NO_THREAD)


def _reason(problem: BaseException) -> str:
    """Return the error message for an exception."""
    if isinstance(problem, SystemError):
        return "out of memory"
    if isinstance(problem, RuntimeError):
        return f"no thread can be started ({problem}): there is a limit of memory or of threads"
    if isinstance(problem, MemoryError):
        return f"out of memory: {problem}" if str(problem) else "out of memory"
    if isinstance(problem, ImportError):
        while isinstance(problem.__context__, ImportError):  # numpy wraps the cause in pages of advice
            problem = problem.__context__
        hint = "" if "built for processors" in str(problem) else " (too little memory, or a broken installation)"
        if problem.name == "wfacli._native" and isinstance(problem, ModuleNotFoundError):
            hint = f" ({NOT_COMPILED})"
        return f"a part of wfacli cannot be loaded: {problem}{hint}"
    if isinstance(problem, OSError) and problem.strerror:
        return _system_reason(problem)
    return str(problem) or type(problem).__name__


def _system_reason(problem: OSError) -> str:
    """Return the message for an error of the system: the file, if it is known, the reason, and what to do."""
    hint = " (there is a limit on open files: ulimit -n)" if problem.errno == errno.EMFILE else ""
    places = [problem.filename, problem.filename2]
    if problem.filename is None and _is_stdout_broken():
        places = ["standard output"]
    names = " and ".join(os.fsdecode(place) for place in places if isinstance(place, (str, bytes)))
    return f"{names}: {problem.strerror}{hint}" if names else f"{problem.strerror}{hint}"


def _is_stdout_broken() -> bool:
    """Return True if buffered output cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _warn(message: Warning | str, category: type[Warning], *_place: Any, **_more: Any) -> None:
    """Print a warning of wfacli as one line; warnings of other packages are not shown to users."""
    if category.__module__.startswith("wfacli.") and not {"-q", "--quiet"} & set(sys.argv):
        warning(str(message))


def entry() -> None:
    """Run the command of sys.argv, and exit.

    Exit statuses: 0 success, 1 failure, 2 usage error, 129 SIGHUP, 130 SIGINT, 141 SIGPIPE, 143 SIGTERM.
    """
    _keep_closed_streams_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # help has characters that some terminal encodings lack
    warnings.showwarning = _warn
    try:
        with Imports():
            from .app import app  # imported late: this is most of the startup time

        catch()
        if any("://" in word for word in sys.argv):
            from ..io.read.urls import plain_words

            sys.argv[1:] = plain_words(sys.argv[1:])
        app(prog_name="wfacli")
    except OutputClosed:
        ignore()
        _drop_stdout()
        sys.exit(EXIT_PIPE)
    except KeyboardInterrupt:  # while Typer builds the commands, which catch it themselves
        sys.exit(EXIT_SIGNAL + signal.SIGINT)
    except Terminated as end:
        sys.exit(EXIT_SIGNAL + end.signal)
    except (WfacliError, MemoryError, OSError, ImportError, RuntimeError, SystemError) as problem:
        if "--debug" in sys.argv or not _is_expected(problem):
            raise
        ignore()
        error(_reason(problem))
        if isinstance(problem, OSError):
            _drop_stdout()
        sys.exit(EXIT_USAGE if isinstance(problem, UsageError) else EXIT_FAILURE)
    finally:
        ignore()
