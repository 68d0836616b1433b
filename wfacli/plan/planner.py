"""The planner of a run: says where each pair of a batch goes first, and where it goes if a kernel fails it."""

from __future__ import annotations

import threading
import weakref
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..config import AlignSpec, Limits
from ..core.batch import I32, U8, PairBatch
from ..core.route import Route
from . import retry
from .dispatch import first_routes, forced_route, routes_in_bands
from .estimate import estimates_beside_gpu, estimates_on_cpu, threads_beside_gpu
from .traits import only_banded, plainly_global

if TYPE_CHECKING:
    from .gpu_routes import GpuRoutes

_AT_A_TIME = 2  # batches per GPU that are planned at a time


@dataclass(frozen=True)
class BatchPlan:
    """Where the pairs of a batch go first.

    Attributes:
        pairs: the batch with the estimates that its routes needed, and its extent, if it was surveyed.
        routes: together they have every row once.
    """

    pairs: PairBatch
    routes: list[Route]


class Planner:
    """Plans batches of one specification, in stages: estimates, then routes. Safe to share between threads."""

    def __init__(
        self,
        spec: AlignSpec,
        limits: Limits | None = None,
        forced: str | None = None,
        gpus: int = 0,
        cpu_share: float = 1.0,
    ) -> None:
        """Make a planner.

        Args:
            spec: what to compute.
            limits: bounds on memory.
            forced: a kernel for every pair, which the user has chosen.
            gpus: GPUs that there are.
            cpu_share: share of the CPU's time that is left for kernels beside a GPU.
        """
        self.spec, self.limits, self.gpu = spec, limits or Limits(), gpus > 0
        self._forced, self._cpu_share = forced, cpu_share
        self._bands: list[str] = []
        self._beside_gpu: GpuRoutes | None = None
        if self.gpu:
            self._know_gpu_kernels()
        # If all threads planned at once, all batches would be ready late, and the GPUs idle until then.
        self._turns: AbstractContextManager[Any] = (
            threading.BoundedSemaphore(_AT_A_TIME * gpus) if gpus else nullcontext()
        )
        self._prepared: weakref.WeakKeyDictionary[PairBatch, BatchPlan] = weakref.WeakKeyDictionary()

    def _know_gpu_kernels(self) -> None:
        from .gpu_kernels import banded  # imported here because runs without a GPU need not wait for them
        from .gpu_routes import GpuRoutes

        if not self._forced and only_banded(self.spec):
            self._bands = banded(self.spec)
        if plainly_global(self.spec):
            self._beside_gpu = GpuRoutes(self.spec, self.limits, self._cpu_share)

    def with_gpus(self, gpus: int) -> Planner:
        """Return a planner that differs in the number of GPUs only."""
        return Planner(self.spec, self.limits, self._forced, gpus, self._cpu_share)

    def plan(self, pairs: PairBatch) -> BatchPlan:
        """Return the plan of a batch; that of prepare(), if it was called for it."""
        if (ready := self._prepared.pop(pairs, None)) is not None:
            return ready
        with self._turns:
            pairs = self.estimated(pairs)
            return BatchPlan(pairs, self.routes(pairs))

    def prepare(self, pairs: PairBatch) -> None:
        """Make the plan of a batch and keep it until plan() asks for it, or the batch is dropped."""
        plan = self.plan(pairs)
        # A plan that referred to its own key would keep it.
        self._prepared[pairs] = plan if plan.pairs is not pairs else replace(plan, pairs=replace(pairs))

    def estimated(self, pairs: PairBatch) -> PairBatch:
        """Return the batch with the estimates that its routes need."""
        if not len(pairs):
            return pairs
        if self._beside_gpu:
            return estimates_beside_gpu(pairs, self.spec, self._beside_gpu.one_suffices)
        return estimates_on_cpu(pairs, self.spec, threads_beside_gpu() if self.gpu else 1)

    def routes(self, pairs: PairBatch) -> list[Route]:
        """Return first routes of a batch, by the estimates that it has."""
        if not len(pairs):
            return []
        if self._bands:
            return routes_in_bands(pairs, self._bands)
        if self._forced:
            return [forced_route(pairs, self._forced)]
        if self._beside_gpu:
            return self._beside_gpu.first(pairs)
        return first_routes(pairs, self.spec, self.limits)

    def further(self, done: Route, status: U8, rows: I32, pairs: PairBatch) -> list[Route]:
        """Return routes for rows (i32[m]) that a route answered with status (u8[m]); rows without one are left out."""
        return retry.after(done, status, rows, self.spec, pairs, self.limits, self._beside_gpu)
