"""Searches for the best local alignment, on the CPU or, if it is expected to be faster, on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ..._native import LocalSolver
from ...config import EngineName
from ...core import tuning
from ...core.batch import I64, U32
from ...errors import DeviceError
from ...gpu.kernels import local as sizes
from ..base import Sliced, State
from ..gpu.local import GpuLocal, NotForGpus
from ..gpu.on_demand import GpuOnDemand

if TYPE_CHECKING:
    from .task import Task

CPU, GPU = EngineName.CPU.value, EngineName.GPU.value
_ASSUMED_MULTIPROCESSORS = 132  # multiprocessors that the model assumes before a GPU is open


class Search(Sliced, Protocol):
    """A search in progress; the interface of the native LocalSolver. Its states fit either engine."""

    @property
    def engine(self) -> str:
        """Engine on which it runs: "cpu" or "gpu"."""

    @property
    def position(self) -> tuple[int, bool, float, int]:
        """Current progress: (best score so far, True if it is final, finished share of the phase, computed cells)."""

    def alignment(self) -> tuple[int, tuple[int, int, int, int], U32]:
        """Return (score, span, operations) once finished; may be called once."""


class _CpuSearch:
    """Adapter that adds the engine's name to the native solver."""

    engine = CPU

    def __init__(self, solver: LocalSolver) -> None:
        self._solver = solver
        self.advance, self.alignment, self.save = solver.advance, solver.alignment, solver.save
        self.close = solver.close

    def restore(self, state: State) -> None:
        """See `Sliced.restore`."""
        self._solver.restore(dict(state))

    @property
    def position(self) -> tuple[int, bool, float, int]:
        """See `Search.position`."""
        return self._solver.position


class Searches(Protocol):
    """Factory of searches."""

    def __call__(self, task: Task, excluded_runs: I64, stop: Callable[[], bool] | None = None) -> Search:
        """Return a search that excludes earlier alignments.

        Args:
            task: sequences, scheme and options.
            excluded_runs: i64[R, 3], ungapped runs of earlier alignments (query start, target start, length), whose
                pairs of symbols must not be aligned again.
            stop: if it returns True, a slice may end without any progress.

        Raises:
            ValueError: the scores are too large.
            DeviceError: a GPU fails.
        """

    def exclude(self, failure: DeviceError) -> None:
        """Stop using the GPU after a failure."""


class OnCpu:
    """Factory of searches on the CPU."""

    def __call__(self, task: Task, excluded_runs: I64, stop: Callable[[], bool] | None = None) -> Search:
        """See `Searches.__call__`."""
        return _cpu_search(task, excluded_runs)

    def exclude(self, failure: DeviceError) -> None:
        """Do nothing: there is no GPU to leave."""


def _cpu_search(task: Task, excluded_runs: I64) -> Search:
    scheme = task.scheme
    return _CpuSearch(
        LocalSolver(
            task.query,
            task.target,
            scheme.matrix,
            scheme.open,
            scheme.extend,
            scheme.same,
            excluded_runs,
            threads=task.threads,
            path=not task.score_only,
            memory=task.memory,
        )
    )


class OnGpu:
    """Factory of searches on a GPU if it is requested or expected to be faster, else on the CPU.

    The CPU also takes pairs that the GPU kernels do not support.
    """

    def __init__(self, gpu: GpuOnDemand, gpu_requested: bool, tell: Callable[[str], None]) -> None:
        """Prepare the factory.

        Args:
            gpu: GPU, opened on demand.
            gpu_requested: True if the user requests the GPU.
            tell: receives a message if the GPU is requested but does not support the pair.
        """
        self._gpu, self._gpu_requested, self._tell = gpu, gpu_requested, tell
        self._gpu_excluded = False

    def exclude(self, failure: DeviceError) -> None:
        """See `Searches.exclude`."""
        self._gpu_excluded = True
        self._gpu.exclude(failure)

    def __call__(self, task: Task, excluded_runs: I64, stop: Callable[[], bool] | None = None) -> Search:
        """See `Searches.__call__`."""
        if self._gpu_excluded or not len(task.query) or not len(task.target):
            return _cpu_search(task, excluded_runs)
        if not self._gpu_requested and not self._gpu_is_faster(task):
            return _cpu_search(task, excluded_runs)
        try:
            return GpuLocal(
                self._gpu.driver(),
                task.query,
                task.target,
                task.scheme,
                excluded_runs,
                threads=task.threads,
                path=not task.score_only,
                memory=task.memory,
                stop=stop,
            )
        except NotForGpus as reason:
            if self._gpu_requested:
                self._tell(f"{reason}: using the CPU")
            return _cpu_search(task, excluded_runs)

    def _gpu_is_faster(self, task: Task) -> bool:
        """Return True if the GPU is expected to be faster than the CPU, including the time to open it, and works."""
        rows, columns = len(task.query), len(task.target)
        on_cpu = rows * columns / (tuning.CPU_LOCAL_CELLS * task.threads)
        open_seconds = 0.0 if self._gpu.is_open else tuning.GPU_OPEN_SECONDS
        best = sizes.seconds(sizes.BUILDS[0], _ASSUMED_MULTIPROCESSORS, rows, columns)
        if on_cpu <= open_seconds + best:
            return False
        return self._gpu.works
