"""Signals at each point at which Python can run a signal's handler, one point a run.

CPython runs handlers between instructions: when a function begins, when a loop jumps back, and after the call of a
function written in C, but not when one written in Python returns. An exception that a handler raises there can leave a
lock held or a cleanup undone. Random moments hardly ever meet such a point; here a tracer counts them, and calls the
handler at one of them.
"""

from __future__ import annotations

import dis
import functools
import signal
import sys
from types import CodeType, FrameType
from typing import Any

_RESUME, _BACK = dis.opmap["RESUME"], {dis.opmap[name] for name in dis.opmap if name.startswith("JUMP_BACKWARD")}
_PACKAGES = {"concurrent", "contextlib", "importlib", "queue", "subprocess", "tempfile", "threading", "wfacli"}
_CALLS = {dis.opmap[name] for name in ("CALL", "CALL_FUNCTION_EX", "CALL_KW") if name in dis.opmap}


@functools.cache
def _points(code: CodeType) -> frozenset[int]:
    """Return the offsets of instructions before which CPython may run handlers."""
    found, previous = set(), None
    for instruction in dis.get_instructions(code):
        before = previous is not None and (previous.opcode in _CALLS or previous.opcode == _RESUME)
        if before or instruction.opcode in _BACK:
            found.add(instruction.offset)
        previous = instruction
    return frozenset(found)


class Points:
    """Counts the points that the main thread passes, and calls the handler of a signal at one of them.

    Points of packages that parse the command line, draw the progress, or the like are left out.

    Attributes:
        passed: number of points so far.
        first: the first point at each place of the code, and the last one.
        where: function, file and line of the signal; "" before it.
    """

    def __init__(self, number: int, at: int | None) -> None:
        """Prepare a signal `number` at the point `at`, counted from 0; None for no signal."""
        self.passed, self.where = 0, ""
        self._first: dict[tuple[CodeType, int], int] = {}
        self._number, self._at = number, at
        self._returned: FrameType | None = None  # frame that a Python function has returned to

    @property
    def first(self) -> list[int]:
        if not self._first:
            raise RuntimeError("no point was met: this version of Python may report no instructions to tracers")
        return [*self._first.values(), max(self.passed - 1, 0)]

    def __enter__(self) -> Points:
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_problem: object) -> None:
        sys.settrace(self._before)

    def _trace(self, frame: FrameType, event: str, _argument: Any) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in _PACKAGES:
            return None
        if event == "return":
            self._returned = frame.f_back
            return self._trace
        returned, self._returned = self._returned, None
        if event == "opcode" and frame is not returned and frame.f_lasti in _points(frame.f_code):
            self._first.setdefault((frame.f_code, frame.f_lasti), self.passed)
            self.passed += 1
            if self.passed - 1 == self._at:
                sys.settrace(None)
                self.where = f"{frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno})"
                handler = signal.getsignal(self._number)
                assert callable(handler)
                handler(self._number, frame)
                return None
        return self._trace
