"""Handlers of signals, and the garbage collector, for the time before a command runs.

`wfacli.cli` imports this module first. It imports nothing but what Python itself has loaded, or nearly so, because a
signal that arrives before its handlers are installed ends with a Python traceback.
"""

import gc
import os
import signal

EXIT_SIGNAL = 128


def catch_early() -> None:
    """Install handlers that exit quietly with the signal's status, even amid an import.

    They stay until signals.catch() replaces them. Signals that are ignored, as SIGHUP under nohup, stay ignored.
    """
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, end_at_once)
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, end_at_once)
    except ValueError:  # not in the main thread, so no command is run
        pass


def end_at_once(number: int, _frame: object) -> None:
    """Exit with the status of a signal, without any cleanup."""
    os._exit(EXIT_SIGNAL + number)


class Imports:
    """Context of many imports, without the garbage collector: they make no garbage, and it looks again and again.

    What they make lives to the end, so later collections leave it out as well.
    """

    def __enter__(self) -> None:
        gc.disable()

    def __exit__(self, *_error: object) -> None:
        gc.freeze()
        gc.enable()
