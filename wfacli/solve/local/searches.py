"""One search for the best local alignment: by the CPU, or on a GPU where that is sooner."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy.typing as npt

from ..._native import LocalSolver
from ...config import EngineName
from ...core import tuning
from ...core.batch import I64, U32
from ...errors import DeviceError
from ...gpu.kernels import local as sizes
from ..gpu.local import GpuLocal, NotForGpus
from ..gpu.on_demand import GpuOnDemand

if TYPE_CHECKING:
    from .task import Task

CPU, GPU = EngineName.CPU.value, EngineName.GPU.value
_GPU = 132  # multiprocessors of the GPU that is thought of before one is open


class Search(Protocol):
    """A search under way, as the native LocalSolver has it."""

    @property
    def engine(self) -> str:
        """Where it runs, "cpu" or "gpu"."""

    @property
    def position(self) -> tuple[int, bool, float, int]:
        """(best score so far, whether it is the best, share of the phase, cells)."""

    def advance(self, seconds: float) -> bool:
        """Goes on for about so long, or until the score is known; whether the end has been reached."""

    def alignment(self) -> tuple[int, tuple[int, int, int, int], U32]:
        """(score, span, operations), once, after the end."""

    def save(self) -> dict[str, I64]:
        """A state that another search of the same task can go on from, wherever it runs."""

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Goes on from there. Raises ValueError."""

    def close(self) -> None:
        """Gives back what it has; it may be called again."""


class _OnCpu:
    """The native solver with its engine's name."""

    engine = CPU

    def __init__(self, solver: LocalSolver) -> None:
        self._solver = solver
        self.advance, self.alignment, self.save = solver.advance, solver.alignment, solver.save
        self.restore, self.close = solver.restore, solver.close

    @property
    def position(self) -> tuple[int, bool, float, int]:
        """As Search's."""
        return self._solver.position


class Searches(Protocol):
    """Makes searches."""

    def __call__(self, task: Task, barred: I64, stop: Callable[[], bool] | None = None) -> Search:
        """One beside i64[., 3], runs of letters (query, target, how many) that alignments before it pair.

        Where `stop` says so, a slice may end before it has done anything.

        Raises:
            ValueError: scores are too large.
            DeviceError: a GPU fails.
        """

    def leave(self, failure: DeviceError) -> None:
        """Uses no GPU any more."""


class OnCpu:
    """The CPU's."""

    def __call__(self, task: Task, barred: I64, stop: Callable[[], bool] | None = None) -> Search:
        """As Searches'."""
        return _on_cpu(task, barred)

    def leave(self, failure: DeviceError) -> None:
        """As Searches'."""


def _on_cpu(task: Task, barred: I64) -> Search:
    scheme = task.scheme
    return _OnCpu(
        LocalSolver(
            task.query,
            task.target,
            scheme.matrix,
            scheme.open,
            scheme.extend,
            scheme.same,
            barred,
            threads=task.threads,
            path=not task.score_only,
            memory=task.memory,
        )
    )


class OnGpu:
    """Makes searches that run on a GPU where that is possible, and sooner or asked for."""

    def __init__(self, gpu: GpuOnDemand, asked: bool, tell: Callable[[str], None]) -> None:
        """`asked`: whether the user wants the GPU; `tell` gets a line where it is not used all the same."""
        self._gpu, self._asked, self._tell = gpu, asked, tell
        self._left = False

    def leave(self, failure: DeviceError) -> None:
        """As Searches'."""
        self._left = True
        self._gpu.leave(failure)

    def __call__(self, task: Task, barred: I64, stop: Callable[[], bool] | None = None) -> Search:
        """As Searches'."""
        if self._left or not len(task.query) or not len(task.target):
            return _on_cpu(task, barred)
        if not self._asked and not self._sooner(task):
            return _on_cpu(task, barred)
        try:
            return GpuLocal(
                self._gpu.driver(),
                task.query,
                task.target,
                task.scheme,
                barred,
                threads=task.threads,
                path=not task.score_only,
                memory=task.memory,
                stop=stop,
            )
        except NotForGpus as reason:
            if self._asked:
                self._tell(f"{reason}: the CPU makes the alignment")
            return _on_cpu(task, barred)

    def _sooner(self, task: Task) -> bool:
        """Whether a GPU would have it sooner than the CPU, its opening included."""
        rows, columns = len(task.query), len(task.target)
        on_cpu = rows * columns / (tuning.CPU_LOCAL_CELLS * task.threads)
        opening = 0.0 if self._gpu.is_open else tuning.OPENING_A_GPU
        best = sizes.seconds(sizes.BUILDS[0], _GPU, rows, columns)
        if on_cpu <= opening + best:
            return False
        return self._gpu.works
