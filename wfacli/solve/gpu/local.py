"""Best local alignment of one pair on a GPU: the GPU computes the score in strips, and the CPU does the traceback.

local_strip.cuh describes how strips run concurrently. Between launches the state is the row below the last strip, and
the rows that were saved before it. The GPU saves many more rows than a checkpoint does, so that the pieces between two
of them, which the CPU recomputes for the traceback, are small.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._native import LocalTraceback
from ...config import EngineName
from ...core import tuning
from ...core.batch import I32, I64, U8, U32
from ...errors import DeviceError
from ...gpu.kernels import local as sizes
from ...gpu.kernels.catalogue import ROWS, Row
from ...gpu.kernels.local import Build, Scores
from ...gpu.runtime.driver import Driver
from ...gpu.runtime.task import LOCAL_CONE, LOCAL_CONES_TASK, LOCAL_PLACE, LOCAL_TASK
from ...scoring.scheme import Scheme
from .buffers import Buffers
from .local_traceback import Traceback, unpacked

_MAX_SAVED = 96  # maximum saved rows of a state, as on the CPU
_CELL = 8  # bytes per cell of a row
_SAVED_ROWS_SHARE = 0.5  # maximum fraction of the free GPU memory for saved rows
_RAMPS = 20  # minimum length of a launch, in multiples of its ramp-up and ramp-down, when strips wait for each other
_SCORE = 0xFFFFFFFF
_STOP = 0x7FFFFFFF  # best score that makes a launch stop: kStop of cuda/local/local_layout.cuh
_INTERRUPTIBLE = 0.3  # expected seconds from which a launch is made interruptible
_POLL = 2e-3  # seconds between two polls of `stop` during such a launch
_COPY_BLOCKS = 1024  # thread blocks that copy a row
_SCRATCH_PER_ROW = 12  # page-locked bytes for the traceback per matrix row that it crosses
_ROWS_AT_ONCE = 1 << 21  # matrix rows for which that memory is allocated up front


class NotForGpus(Exception):
    """Raised if the kernels do not support the scores or lengths, or the GPU has too little shared memory."""


class GpuLocal:
    """GPU counterpart of the native LocalSolver; the driver is borrowed, and not closed."""

    engine = EngineName.GPU.value

    def __init__(
        self,
        driver: Driver,
        query: U8,
        target: U8,
        scheme: Scheme,
        excluded_runs: I64,
        threads: int = 1,
        path: bool = True,
        memory: int = 1 << 30,
        prune: bool = True,
        build: Build | None = None,
        row: Row | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        """Upload both sequences.

        Args:
            driver: an open GPU, owned by the calling thread.
            query: u8[m], codes of the scheme; not empty.
            target: u8[n], codes of the scheme; not empty.
            scheme: substitution scores and gap costs.
            excluded_runs: i64[R, 3], ungapped runs whose pairs of symbols must not be aligned: query start, target
                start, length.
            threads: CPU threads for the traceback.
            path: True to compute the path, not only the score and the beginning.
            memory: maximum bytes of the saved rows of a state.
            prune: True to skip tiles that cannot be part of the best alignment.
            build: build of the kernel; None: the fastest. For tests and measurements.
            row: kernel of that build; None: the catalogue's.
            stop: polled while the GPU is busy; if it returns True, the slice ends and may have made no progress.

        Raises:
            NotForGpus: the scores or lengths are too large for the kernels, or shared memory is too small.
            DeviceError: the GPU failed, or has too little memory.
        """
        self._driver, self._query, self._target, self._scheme = driver, query, target, scheme
        self._excluded_runs, self._stop = excluded_runs, stop
        self._threads, self._path, self._memory = threads, path, memory
        scores = Scores.of(scheme.matrix, scheme.open, scheme.extend, query, target)
        found = build or sizes.best_build(scores, driver.gpu.shared_per_block)
        max_score = scores.match * min(len(query), len(target))
        if found is None or not found.holds(scores) or len(target) >= 1 << 31 or max_score >= _STOP:
            raise NotForGpus(f"{scheme.name} has scores that the GPU kernels do not support")
        self._build, self._scores = found, scores
        self._rows, self._columns = len(query), len(target)
        self._strips = -(-self._rows // found.rows)
        self._next, self._cells, self._best = 0, 0, (0, -1, -1)
        self._native: LocalTraceback | None = None
        self._traceback: Traceback | None = None
        self._ended = False
        self._buffers = Buffers(driver)
        self._row_copy: int | None = None  # address of a copy of the row, for a launch that may be interrupted
        self._row_addresses: dict[int, int] = {}  # number of rows above -> address of a saved row
        self._row = row or ROWS[found.name]
        try:
            self._load(prune)
        except BaseException:
            self.close()
            raise

    # The GPU

    def _load(self, prune: bool) -> None:
        driver, build, scores = self._driver, self._build, self._scores
        self._stream, self._stop_stream = self._buffers.stream, driver.stream()
        if self._path:
            # Allocated up front, since locking takes longer than a short traceback.
            self._buffers.scratch(_SCRATCH_PER_ROW * min(self._rows, _ROWS_AT_ONCE))
        self._kernel = driver.kernel(self._row)
        self._shared = build.shared(scores.n_column_codes)
        resident = self._kernel.resident(self._shared)
        if not resident:
            raise NotForGpus("a multiprocessor of this GPU has too little shared memory")
        self._warps = driver.gpu.multiprocessors * resident * build.warps
        task = self._task = np.zeros(1, LOCAL_TASK)
        task["query"] = self._buffers.uploaded(scores.row_codes[self._query[::-1]])
        task["target"] = self._buffers.uploaded(scores.column_codes[self._target[::-1]])
        task["scores"] = self._buffers.uploaded(scores.table.reshape(-1).view(np.uint8))
        task["row"] = self._buffers.zeroed(_CELL * self._columns)
        self._counters = self._buffers.zeroed(16)  # strip counter, best score, computed tiles
        self._cone = self._buffers.zeroed(LOCAL_CONE.itemsize)
        self._tile = build.rows * build.chunk  # cells
        task["work_counter"], task["best_score"], task["tiles"] = (
            self._counters,
            self._counters + 4,
            self._counters + 8,
        )
        task["best"] = self._records = self._buffers.zeroed(LOCAL_PLACE.itemsize * self._warps)
        task["scratch"] = self._buffers.allocate(build.scratch(self._warps))
        task["rows"], task["columns"] = self._rows, self._columns
        task["n_row_codes"], task["n_column_codes"] = len(scores.table) - 1, scores.n_column_codes
        task["first_gap"], task["extend"], task["match"] = scores.open + scores.extend, scores.extend, scores.match
        task["max_difference"], task["floor"], task["one"], task["prune"] = (
            build.max_difference(scores),
            scores.floor,
            1,
            prune,
        )
        excluded = self._excluded_columns()
        if len(excluded):
            task["barred"], task["barred_sets"] = self._buffers.uploaded(excluded), len(excluded)
        self._row_interval = self._state_row_interval() if self._path else 0
        if self._row_interval:
            self._allocate_rows()

    def _excluded_columns(self) -> I32:
        """Return excluded columns, i32[sets, rows of all strips], at most one per row and set; -1: none."""
        lengths = self._excluded_runs[:, 2]
        along = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        row = self._rows - 1 - np.repeat(self._excluded_runs[:, 0], lengths) - along
        column = self._columns - 1 - np.repeat(self._excluded_runs[:, 1], lengths) - along
        order = np.argsort(row, kind="stable")
        row, column = row[order], column[order]
        set_ = np.arange(len(row)) - np.searchsorted(row, row)  # number of earlier entries of the same row
        excluded: I32 = np.full((int(set_.max(initial=-1)) + 1, self._strips * self._build.rows), -1, np.int32)
        excluded[set_, row] = column
        return excluded

    def _state_row_interval(self) -> int:
        """Return the distance between saved rows of a state, as in LocalSolver, which can resume from the state."""
        fit = min(max(self._memory // (_CELL * self._columns), 1), _MAX_SAVED)
        return -(-max(-(-self._rows // fit), 1) // sizes.STATE_ROWS) * sizes.STATE_ROWS

    def _allocate_rows(self) -> None:
        """Allocate memory for as many saved rows as fit; they include those of a state."""
        budget = int(_SAVED_ROWS_SHARE * self._driver.free_memory())
        row_interval = self._row_interval // self._build.rows
        self._strips_between_rows = sizes.strips_between_rows(self._strips, row_interval, self._columns, budget)
        saved = self._strips // self._strips_between_rows
        if saved and saved * _CELL * self._columns > budget:
            raise DeviceError(f"{self._driver.gpu.name} has too little free memory for the rows of the traceback")
        self._task["store_every"] = self._strips_between_rows if saved else 0
        self._task["stored_rows"] = address = self._buffers.allocate(saved * _CELL * self._columns) if saved else 0
        interval = self._strips_between_rows * self._build.rows
        self._row_addresses = {(k + 1) * interval: address + k * _CELL * self._columns for k in range(saved)}
        self._saved_rows: set[int] = set()  # keys of `_row_addresses` whose rows have been computed

    # The search

    def advance(self, seconds: float) -> bool:
        """Work for about `seconds`, or until the score is known; return True when finished.

        A launch has a minimum number of strips and may take longer. An interrupted launch leaves the state unchanged.
        """
        if self._ended:
            return True
        if self._next < self._strips:
            whole = sizes.seconds(self._build, self._driver.gpu.multiprocessors, self._rows, self._columns)
            waiting = self._warps * tuning.GPU_LOCAL_LAG  # columns
            min_strips = max(-(-_RAMPS * waiting // self._columns), 1) * self._warps
            count, left = max(int(seconds * self._strips / whole), min_strips), self._strips - self._next
            self.compute_strips(count if left - count > min_strips // 2 else left)
        elif not self._path or self._best[0] <= 0:
            self._ended = True
        else:
            begun, traceback = time.monotonic(), self._start_traceback()
            while not traceback.ended:
                traceback.step()
                if time.monotonic() - begun >= seconds:
                    break
            self._ended = traceback.ended
        return self._ended

    def compute_strips(self, strips: int) -> None:
        """Compute the next `strips` strips in one launch; no progress if it is interrupted."""
        together = sizes.STATE_ROWS // self._build.rows  # launches end where the CPU and all builds can resume
        end = min(self._next + -(-strips // together) * together, self._strips)
        driver, task = self._driver, self._task
        task["first"], task["end"] = self._next, end
        small = np.zeros(4, np.uint32)
        small[1], small[2:] = self._best[0], np.array([self._cells // self._tile], np.uint64).view(np.uint32)
        self._buffers.write(self._counters, small)
        driver.fill(self._records, 0, LOCAL_PLACE.itemsize * self._warps, self._stream)
        blocks = min(self._warps // self._build.warps, -(-(end - self._next) // self._build.warps))
        gpu, build = driver.gpu, self._build
        rows = (end - self._next) * build.rows
        if self._stop and sizes.seconds(build, gpu.multiprocessors, rows, self._columns) > _INTERRUPTIBLE:
            if not self._launch_interruptible(self._stop, blocks):
                return
        else:
            self._launch(blocks)
        records = self._buffers.read(self._records, LOCAL_PLACE.itemsize * self._warps).view(LOCAL_PLACE)
        self._cells = int(self._buffers.read(self._counters + 8, 8).view(np.uint64)[0]) * self._tile
        for one in records[records["score"] >= max(self._best[0], 1)]:
            found = int(one["score"]), int(one["row"]), int(one["column"])
            if (-found[0], *found[1:]) < (-self._best[0], *self._best[1:]) or self._best[0] <= 0:
                self._best = found
        begun, reached = self._next * self._build.rows, min(end * self._build.rows, self._rows)
        self._next = end
        if self._row_interval:
            self._saved_rows |= {rows for rows in self._row_addresses if begun < rows <= reached}

    def _launch(self, blocks: int) -> None:
        """Queue a launch; while the last one runs, prepare the traceback on the host."""
        self._driver.launch(self._kernel, blocks, self._task, self._stream, self._shared)
        if self._path and self._task["end"] == self._strips:
            self._prepare()

    def _prepare(self) -> LocalTraceback:
        if self._native is None:
            scheme = self._scheme
            self._native = LocalTraceback(
                self._query, self._target, scheme.matrix, scheme.open, scheme.extend, scheme.same, self._excluded_runs,
                memory=self._memory // 2,
            )  # fmt: skip
        return self._native

    def _launch_interruptible(self, stop: Callable[[], bool], blocks: int) -> bool:
        """Launch and wait, polling `stop`; if it interrupts the launch, restore the row and return False."""
        driver, row = self._driver, int(self._task["row"][0])
        if self._row_copy is None:
            self._row_copy = self._buffers.allocate(_CELL * self._columns)
        self._copy(row, self._row_copy)
        self._launch(blocks)
        ended, stopped = driver.record(self._stream), False
        while not driver.done(ended):
            if not stopped and stop():
                stopped = True
                known = self._buffers.scratch(4)
                known[:] = np.array([_STOP], np.uint32).view(np.uint8)
                driver.upload(self._counters + 4, known, self._stop_stream)
                driver.wait(driver.record(self._stop_stream))
            time.sleep(_POLL)
        if stopped:
            self._copy(self._row_copy, row)
            self._buffers.wait()
        return not stopped

    def _copy(self, row: int, into: int) -> None:
        """Queue a kernel that copies a row of cells."""
        task, cone = np.zeros(1, LOCAL_CONES_TASK), np.zeros(1, LOCAL_CONE)
        cone["row"], cone["column"] = row, self._columns - 1
        self._buffers.write(self._cone, cone)
        task["cones"], task["answers"], task["parts"] = self._cone, into, _COPY_BLOCKS
        self._driver.launch(self._driver.kernel(ROWS[sizes.WINDOWS]), _COPY_BLOCKS, task, self._stream)

    def _start_traceback(self) -> Traceback:
        """Return the traceback, created on first use once the score is known."""
        if self._traceback is None:
            saved = {rows: self._row_addresses[rows] for rows in self._saved_rows}
            gpu = self._driver, self._stream, self._buffers.scratch, self._prepare()
            self._traceback = Traceback(*gpu, self._scores, self._best, saved, self._threads)
        return self._traceback

    def _scores_of(self, address: int, count: int) -> tuple[I32, I32]:
        """Download cells of a row; return their scores, and the scores of gaps that continue into the row below."""
        return unpacked(self._buffers.read(address, _CELL * count).view(np.uint64))

    @property
    def ended(self) -> bool:
        """True when finished."""
        return self._ended

    @property
    def position(self) -> tuple[int, bool, float, int]:
        """Current progress: (best score so far, True if it is final, finished share of the phase, computed cells)."""
        scored = self._next >= self._strips
        cells = self._cells + (self._traceback.cells if self._traceback else 0)
        if self._ended:
            return self._best[0], True, 1.0, cells
        if not scored:
            return self._best[0], False, self._next / self._strips, cells
        return self._best[0], True, self._traceback.fraction_done if self._traceback else 0.0, cells

    def alignment(self) -> tuple[int, tuple[int, int, int, int], U32]:
        """Return (score, span, operations) once finished, as LocalSolver does; may be called once."""
        none = np.zeros(0, np.uint32)
        if self._best[0] <= 0:
            return 0, (0, 0, 0, 0), none
        score, row, column = self._best
        last_row, last_column = self._rows - 1, self._columns - 1
        if self._traceback is None:
            return score, (last_row - row, -1, last_column - column, -1), none
        end_row, end_column, ops = self._traceback.path()
        return score, (last_row - row, last_row - end_row, last_column - column, last_column - end_column), ops

    # States

    def save(self) -> dict[str, I64]:
        """Return a state of LocalSolver, which can also resume from it."""
        done = min(self._next * self._build.rows, self._rows)
        numbers = [self._rows, self._columns, self._row_interval, done, self._cells, *self._best]
        row = self._state_row(int(self._task["row"][0]))
        saved = (
            [self._state_row(self._row_addresses[r]) for r in sorted(self._saved_rows) if r % self._row_interval == 0]
            if self._row_interval
            else []
        )
        return {
            "numbers": np.array(numbers, np.int64),
            "row": row,
            "kept": np.concatenate(saved) if saved else np.zeros(0, np.int64),
        }

    def _state_row(self, address: int) -> I64:
        h, f = self._scores_of(address, self._columns)
        found: I64 = h.astype(np.int64) << 32 | f.view(np.uint32).astype(np.int64)
        return found

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Resume from a state, also of LocalSolver. Raises ValueError if it does not fit, and then changes nothing."""
        if not {"numbers", "row", "kept"} <= state.keys() or len(state["numbers"]) != 8:
            raise ValueError("the state is damaged")
        rows, columns, row_interval, done, cells, score, row, column = (int(x) for x in state["numbers"])
        if (rows, columns) != (self._rows, self._columns):
            raise ValueError("the state is of other sequences")
        if row_interval != self._row_interval:
            raise ValueError("the state is of a run with other memory")
        saved = done // row_interval if row_interval else 0
        fits = 0 <= done <= rows and (done == rows or done % self._build.rows == 0) and cells >= 0 and score >= 0
        placed = -1 <= row < rows and -1 <= column < columns and (score > 0) == (row >= 0 and column >= 0)
        if not (fits and placed and state["row"].shape == (columns,) and state["kept"].shape == (saved * columns,)):
            raise ValueError("the state is damaged")
        self._next, self._cells, self._best = -(-done // self._build.rows), cells, (score, row, column)
        self._buffers.write(int(self._task["row"][0]), self._gpu_row(state["row"]))
        if row_interval:
            self._saved_rows = {
                (k + 1) * row_interval for k in range(saved) if (k + 1) * row_interval in self._row_addresses
            }
            for k, above in enumerate(sorted(self._saved_rows)):
                self._buffers.write(
                    self._row_addresses[above], self._gpu_row(state["kept"][k * columns : (k + 1) * columns])
                )
        if self._traceback:
            self._traceback.close()
        self._traceback, self._ended = None, False

    def _gpu_row(self, packed: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
        """Convert a row of a state to the GPU's format, with the tag that the next strip waits for."""
        h = (packed >> 32).astype(np.int64)
        f = (packed & _SCORE).astype(np.uint32).view(np.int32).astype(np.int64)
        less = np.clip(h - f, 0, self._scores.open + self._scores.extend)
        tag = np.uint64((self._next & 0xFFFF) << 48)
        words: npt.NDArray[np.uint64] = (less << 32 | h).astype(np.uint64) | tag
        return words

    def close(self) -> None:
        """Release all resources; idempotent."""
        self._buffers.drain()
        if self._traceback:
            self._traceback.close()
        self._buffers.close()
