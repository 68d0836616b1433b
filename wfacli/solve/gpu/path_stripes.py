"""Traceback of a long pair on a GPU through the stripes of a band that proves the distance (long_path_bits.cu).

The path is recovered from the saved edges and states of the stripes. If those of all stripes do not fit into memory, a
first pass through the band saves the edge before each group of stripes. The groups are then recomputed from the last
to the first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...core.batch import U32
from ...gpu.kernels import long_bits
from ...gpu.kernels import long_path as sizes
from ...gpu.kernels.catalogue import ROWS
from ...gpu.kernels.long_path import Stripes
from ...gpu.runtime.driver import Driver
from ...gpu.runtime.task import PATH_BITS_TASK
from ..base import Pair
from .segments import GpuMemory, Segments

NAME = "gpu-stripes"


class StripesPath:
    """Path of one pair; the driver is borrowed, and not closed."""

    def __init__(
        self,
        driver: Driver,
        pair: Pair,
        distance: int,
        memory: int,
        shape: long_bits.Shape | None = None,
        every: int = sizes.STATE_INTERVAL,
        group: int = 0,
    ) -> None:
        """Upload the sequences, none of which may be empty, and allocate memory.

        Args:
            driver: an open GPU, owned by the calling thread.
            pair: the sequences.
            distance: their distance.
            memory: maximum GPU memory, in bytes.
            shape: build of the kernels; None: the fastest. For tests.
            every: blocks of 32 columns between two saved states. For tests.
            group: stripes per group; 0: as many as fit. For tests.

        Raises:
            OutOfDeviceMemory: `memory` is too small.
            DeviceError: the GPU failed.
        """
        lengths, planes = (len(pair.query), len(pair.target)), 2 if pair.plain else 8
        shape = shape or sizes.best_stripes(planes, driver.gpu.multiprocessors, lengths, distance)[1]
        self._driver, self.rounds = driver, 0
        self._memory = GpuMemory(driver)
        try:
            kernel = driver.kernel(ROWS[sizes.row_of("walk", shape)])
            warps = max(kernel.resident(), 1) * driver.gpu.multiprocessors
            scratch_bytes = Stripes.plan(shape, lengths, distance, 1 << 62, every).scratch_bytes
            available = memory - min(warps, -(-lengths[0] // shape.rows)) * (scratch_bytes + 256)
            self._plan = plan = Stripes.plan(shape, lengths, distance, available, every, group)
            self._task = np.zeros(1, PATH_BITS_TASK)
            self._memory.upload_pair(pair, self._task["bits"], planes, shape.row_bytes)
            row = ROWS[sizes.row_of("walk", shape)]
            self._segments = Segments(
                self._memory, row, plan.group, plan.op_capacity, plan.scratch_bytes, plan.expected_parts
            )
            self._fill_task()
        except BaseException:
            self.close()
            raise

    def _fill_task(self) -> None:
        plan, task, bits = self._plan, self._task, self._task["bits"]
        bits["low"], bits["high"] = plan.band.low, plan.band.high
        bits["rows"], bits["edge_words"], bits["slots"] = plan.shape.rows, plan.edge_words, plan.group + 1
        bits["work_counter"] = self._memory.allocate(4)
        self._edges, self._states = self._memory.allocate(plan.edges_nbytes), self._memory.allocate(plan.states_nbytes)
        self._driver.fill(self._edges, 0, plan.edges_nbytes, self._memory.stream)  # clears the tags
        bits["matrix"]["edges"][0, 0], bits["matrix"]["stripes"][0, 0] = self._edges, plan.count
        task["states_per_stripe"], task["state_interval"] = plan.states_per_stripe, plan.state_interval
        self._sweep = self._driver.kernel(ROWS[sizes.row_of("sweep", plan.shape)])
        self._guess = self._driver.kernel(ROWS[sizes.GUESS])

    def find(self, poll: Callable[[], None]) -> list[U32]:
        """Return the operations of the path, u32 pieces in order; `poll` is called from time to time and may raise."""
        plan = self._plan
        groups = [range(first, min(first + plan.group, plan.count)) for first in range(0, plan.count, plan.group)]
        edges: list[npt.NDArray[np.generic]] = []
        for stripes in groups[:-1]:
            self._sweep_stripes(stripes, save_states=False)
            edges.append(self._memory.download(self._edge(stripes[-1]), 2 * plan.edge_words, np.uint64))
            poll()
        column, pieces = int(self._task["bits"]["target_len"][0]), []
        for stripes in reversed(groups):
            if stripes[0] and stripes is not groups[-1]:
                self._memory.upload(self._edge(stripes[0] - 1), edges[stripes[0] // plan.group - 1])
            self._sweep_stripes(stripes, save_states=True)
            self._segments.begin(self._task, len(stripes))
            self._guess_entries(len(stripes))
            traced = self._segments.trace(self._task, len(stripes), column, poll)
            column, self.rounds = traced.exit, self.rounds + traced.rounds
            pieces.append(traced.ops)
        return pieces

    def _edge(self, stripe: int) -> int:
        return self._edges + 16 * self._plan.edge_words * (stripe % (self._plan.group + 1))

    def _sweep_stripes(self, stripes: range, save_states: bool) -> None:
        task, bits = self._task, self._task["bits"]
        bits["first"], bits["end"] = stripes[0], stripes[-1] + 1
        task["first_segment"], task["states"] = stripes[0], self._states if save_states else 0
        self._driver.fill(int(bits["work_counter"][0]), 0, 4, self._memory.stream)
        # One warp per scheduler, as in bits.py: a stripe that shares its scheduler delays all others.
        blocks = min(self._driver.gpu.multiprocessors, -(-len(stripes) // long_bits.WARPS))
        self._driver.launch(self._sweep, blocks, self._task, self._memory.stream)

    def _guess_entries(self, stripes: int) -> None:
        blocks = min(max(self._guess.resident(), 1) * self._driver.gpu.multiprocessors, stripes)
        self._driver.launch(self._guess, blocks, self._task, self._memory.stream)

    def close(self) -> None:
        """Release all memory."""
        self._memory.close()
