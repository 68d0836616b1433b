"""Run of `wfacli distance` on one pair: choice and switch of algorithms, fallback to the CPU, checkpoints."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial

from ...config import EngineName
from ...core.stats import counted
from ...errors import DeviceError, InputError
from ..base import Pair, Position, Solver, State
from ..checkpoint import Checkpoint, Saved
from ..facts import listed, number, optional, record, text, truth, whole
from ..saving import Saving, remaining_seconds
from ..watchers import Watchers
from .choose import Algorithm, AlgorithmChoice

_DECIDED_BY_LENGTHS = "lengths"  # reported as algorithm if the lengths determine the result
_SURE = 2  # slices of a wavefront before its growth is extrapolated
_MAX_ESTIMATED_FRACTION = 0.99  # maximum of a share that is only estimated


@dataclass
class Phase:
    """Part of a run in which one algorithm was at work.

    Attributes:
        algorithm: its name.
        seconds: its time, over all resumed runs.
        at_least: lower bound of the distance that it proved.
        cells: cells that it computed; see `solve.base.Position`.
        end: "done"; "switched" to the next phase; "failed", for a GPU failure; "" if it is running or was stopped.
        failure: message of the failure.
    """

    algorithm: str
    seconds: float = 0.0
    at_least: int = 0
    cells: int = 0
    end: str = ""
    failure: str = ""


_are_facts = record(
    phases=listed(record(algorithm=text, seconds=number, at_least=whole, cells=whole, end=text, failure=text)),
    estimate=optional(whole),
    resumed=whole,
)


@dataclass(frozen=True)
class Outcome:
    """Result of a finished run.

    Attributes:
        distance: the distance; None if it exceeds the maximum.
        estimate: estimated edits before the run; None without an estimate.
        phases: phases in order.
        resumed: number of times that the run was resumed from a checkpoint.
        checkpoints: number of checkpoints that this run wrote.
    """

    distance: int | None
    estimate: int | None
    phases: tuple[Phase, ...] = ()
    resumed: int = 0
    checkpoints: int = 0

    @property
    def algorithm(self) -> str:
        """Algorithm that found the distance."""
        return self.phases[-1].algorithm if self.phases else _DECIDED_BY_LENGTHS

    @property
    def gpu_failure(self) -> str | None:
        """Message of the GPU failure after which the CPU took over; None without one."""
        return next((phase.failure for phase in self.phases if phase.end == "failed"), None)

    @property
    def seconds(self) -> float:
        """Seconds of all phases, over all resumed runs."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def cells(self) -> int:
        """Cells computed by all phases, over all resumed runs."""
        return sum(phase.cells for phase in self.phases)


@dataclass(frozen=True)
class Progress:
    """Progress of a run.

    Attributes:
        lower_bound: proven lower bound of the distance.
        fraction_done: fraction of the running algorithm's work that is done; None if unknown.
        remaining_seconds: expected remaining seconds; None if unknown.
        algorithm: name of the running algorithm.
        done: True once the distance is known and only the alignment remains to be computed.
    """

    lower_bound: int = 0
    fraction_done: float | None = None
    remaining_seconds: float | None = None
    algorithm: str = ""
    done: bool = False


class DistanceRun:
    """Runs algorithms on a pair until one has found the distance.

    Attributes:
        progress: current progress; any thread may read it.
    """

    def __init__(
        self,
        pair: Pair,
        max_distance: int | None,
        choice: AlgorithmChoice,
        estimate: int | None,
        watchers: Watchers,
        checkpoint: Checkpoint | None = None,
        interval: float = 120.0,
    ) -> None:
        """Prepare a run.

        Args:
            pair: the sequences.
            max_distance: maximum distance of interest; None: unlimited.
            choice: selects the algorithms.
            estimate: estimated edits; None if unknown.
            watchers: callbacks.
            checkpoint: where the state is saved; None: nowhere.
            interval: seconds between two checkpoints.
        """
        self._pair, self._max_distance, self._choice, self._estimate = pair, max_distance, choice, estimate
        self._watchers, self._saving = watchers, Saving(checkpoint, interval, watchers)
        self._expected_edits = estimate
        self._cpu_state: tuple[Algorithm, State] | None = None  # state from which the CPU can resume
        self._phases: list[Phase] = []
        self._resumed = 0
        self._started = self._seconds_before = self._fraction_before = 0.0
        self.progress = Progress()

    def run(self, saved: Saved | None = None) -> Outcome:
        """Find the distance, from the beginning or from a saved state; if a GPU fails, continue on the CPU.

        Raises:
            Cancelled: the watchers requested a stop; if checkpoints are enabled, one was written first.
            DeviceError: a GPU failed, and no other algorithm is allowed.
            InputError, UsageError: the saved state does not fit.
        """
        if saved is None and (known := _by_lengths(self._pair, self._max_distance)) is not None:
            return Outcome(known if known >= 0 else None, self._estimate)
        if saved:
            self._check(saved)
        if saved and saved.facts.get("done"):
            self._load(saved)
            self._watchers.note("the checkpoint already has the distance")
            return self._outcome(saved.facts["distance"])
        begin: Callable[[], tuple[Algorithm, Solver | None]]
        begin = partial(self._resume, saved) if saved else self._begin
        while True:
            try:
                return self._run_algorithms(*begin())
            except DeviceError as failure:
                self._exclude_gpu(failure)
                begin = partial(self._without_gpu, failure)

    def _run_algorithms(self, algorithm: Algorithm, solver: Solver | None) -> Outcome:
        """Run algorithms, switching where another is faster, until one has found the distance."""
        try:
            while True:
                if solver is None:
                    solver = self._begin_phase(algorithm)
                    self._cpu_state = None
                if self._advance(algorithm, solver):
                    self._phases[-1].end = "done"
                    return self._outcome(solver.distance)
                other = self._faster_alternative(algorithm, solver.position)
                if other:
                    self._phases[-1].end = "switched"
                    if other.engine is EngineName.GPU:  # the GPU may fail: keep a state for the CPU
                        self._cpu_state = self._state_for_cpu(algorithm, solver)
                    solver.close()
                    algorithm, solver = other, None
        except DeviceError:
            if solver is not None:
                self._cpu_state = self._state_for_cpu(algorithm, solver)
            raise
        finally:
            with contextlib.suppress(DeviceError):  # a failed GPU may refuse to free its memory
                if solver is not None:
                    solver.close()

    def save_distance(self, outcome: Outcome) -> None:
        """Write a checkpoint with the distance, so that a resumed run only has to compute the alignment."""
        self.progress = Progress(outcome.distance or 0, algorithm=outcome.algorithm, done=True)
        self._saving.write(Saved(outcome.algorithm, {}, self._facts() | {"done": True, "distance": outcome.distance}))

    def _outcome(self, distance: int | None) -> Outcome:
        phases = tuple(replace(phase) for phase in self._phases)
        return Outcome(distance, self._estimate, phases, self._resumed, self._saving.written)

    def _begin(self) -> tuple[Algorithm, Solver | None]:
        algorithm = self._choice.first(self._pair, self._estimate)
        about = "no estimate" if self._estimate is None else f"an estimate of {counted(self._estimate, 'edit')}"
        self._watchers.note(f"{about}: starting with {algorithm.name}")
        return algorithm, None

    def _begin_phase(self, algorithm: Algorithm) -> Solver:
        self._phases.append(Phase(algorithm.name))
        return self._new_solver(algorithm)

    def _new_solver(self, algorithm: Algorithm) -> Solver:
        """Make a solver for the current (last) phase."""
        self._started = self._watchers.clock()
        self._fraction_before, self._seconds_before = 0.0, 0.0
        return algorithm.make(
            self._pair, self._max_distance, replace(self._choice.resources, expected_edits=self._expected_edits)
        )

    def _resume(self, saved: Saved) -> tuple[Algorithm, Solver | None]:
        algorithm = self._choice.named(saved.algorithm)
        self._load(saved)
        self._cpu_state = algorithm, saved.state
        solver = self._new_solver(algorithm)
        try:
            self._saving.restore(solver, saved.state)
        except InputError:
            solver.close()
            raise
        self._seconds_before = self._phases[-1].seconds
        self._fraction_before = self._fraction_done(algorithm, solver.position) or 0.0
        self._update_progress(algorithm, solver)
        self._watchers.note(
            f"resuming {algorithm.name} after {self._seconds_before:.0f} s, "
            f"at {self.progress.lower_bound:,} edits or more"
        )
        return algorithm, solver

    def _state_for_cpu(self, algorithm: Algorithm, solver: Solver) -> tuple[Algorithm, State] | None:
        """Return the state of a solver, else (if its GPU cannot be read) of the last checkpoint; None if neither."""
        if fraction_done := solver.position.fraction_done:
            self._expected_edits = max(self._expected_edits or 0, int(solver.position.lower_bound / fraction_done))
        with contextlib.suppress(DeviceError):
            return algorithm, solver.save()
        checkpoint = self._saving.checkpoint
        if checkpoint and checkpoint.exists():
            with contextlib.suppress(InputError):
                saved = checkpoint.read()
                return (algorithm, saved.state) if saved.algorithm == algorithm.name else None
        return None

    def _exclude_gpu(self, failure: DeviceError) -> None:
        """Record the failure and exclude the GPU. Raises DeviceError if the options exclude the CPU."""
        phase = self._phases[-1]
        phase.end, phase.failure = "failed", str(failure)
        if not self._choice.exclude_gpu(failure):
            further = " and --resume" if self._saving.written else ""
            raise DeviceError(f"{failure} (--engine auto{further} continues with the CPU)") from failure

    def _without_gpu(self, failure: DeviceError) -> tuple[Algorithm, Solver | None]:
        """Continue on the CPU, from the GPU's state if it can be converted."""
        known = max(p.at_least for p in self._phases)
        expected = None if self._expected_edits is None else max(self._expected_edits, known)
        algorithm = self._choice.first(self._pair, expected)
        solver = self._begin_phase(algorithm)
        where = "from the beginning"
        if self._cpu_state and self._cpu_state[0].kind == algorithm.kind:
            state = self._cpu_state[0].to_cpu_state(self._pair, self._max_distance, self._cpu_state[1])
            with contextlib.suppress(ValueError):  # an invalid state: start from the beginning
                if state:
                    solver.restore(state)
                    self._fraction_before = self._fraction_done(algorithm, solver.position) or 0.0
                    where = f"from {solver.position.lower_bound:,} edits on"
        self._update_progress(algorithm, solver)
        self._watchers.warn(f"the GPU failed ({failure}): continuing with {algorithm.name} {where}")
        return algorithm, solver

    def _check(self, saved: Saved) -> None:
        """Validate the values of a checkpoint, which is untrusted. Raises InputError."""
        facts = dict(saved.facts)
        done, distance = facts.pop("done", False), facts.pop("distance", None)
        longest = max(len(self._pair.query), len(self._pair.target))
        possible = (
            distance is None if not done else whole(distance) or (distance is None and self._max_distance is not None)
        )
        if not (truth(done) and possible and (distance or 0) <= longest and _are_facts(facts)):
            raise self._saving.unfit()
        if not (done or facts["phases"]):
            raise self._saving.unfit()

    def _load(self, saved: Saved) -> None:
        self._phases = [Phase(**phase) for phase in saved.facts["phases"]]
        self._estimate = saved.facts["estimate"]
        self._resumed = saved.facts["resumed"] + 1

    def _advance(self, algorithm: Algorithm, solver: Solver) -> bool:
        """Run one slice, then report progress, save and stop as needed; return True if the solver is finished."""
        finished = solver.advance(algorithm.slice)
        self._update_progress(algorithm, solver)
        if finished:
            return True
        self._saving.after_slice(lambda: Saved(algorithm.name, solver.save(), self._facts()))
        return False

    def _update_progress(self, algorithm: Algorithm, solver: Solver) -> None:
        phase, position = self._phases[-1], solver.position
        now = self._watchers.clock()
        phase.seconds = self._seconds_before + now - self._started
        phase.at_least, phase.cells = position.lower_bound, position.cells
        fraction_done = self._fraction_done(algorithm, position)
        known = max(p.at_least for p in self._phases)
        remaining = remaining_seconds(fraction_done, self._fraction_before, now - self._started)
        self.progress = Progress(known, fraction_done, remaining, algorithm.name)

    def _fraction_done(self, algorithm: Algorithm, position: Position) -> float | None:
        """Return the fraction of the work that is done, from the solver, or from the estimate until it is exceeded."""
        fraction_done = position.fraction_done
        if algorithm.kind != "wavefront":
            return fraction_done
        if fraction_done is None and self._estimate and position.lower_bound <= self._estimate:
            fraction_done = position.lower_bound / self._estimate
        return None if fraction_done is None else min(fraction_done**2, _MAX_ESTIMATED_FRACTION)

    def _faster_alternative(self, algorithm: Algorithm, position: Position) -> Algorithm | None:
        phase = self._phases[-1]
        if phase.seconds < _SURE * algorithm.slice:
            return None
        extrapolated = position.lower_bound / position.fraction_done if position.fraction_done else None
        other = self._choice.faster_alternative(
            algorithm, self._pair, phase.at_least, phase.seconds, self._estimate, extrapolated
        )
        if other:
            self._expected_edits = int(max(self._estimate or 0, extrapolated or 0, phase.at_least))
            self._watchers.note(
                f"{phase.at_least:,} edits or more after {phase.seconds:.1f} s: switching to {other.name}, which is "
                f"expected to finish before {algorithm.name}"
            )
        return other

    def _facts(self) -> dict[str, object]:
        phases = [asdict(phase) for phase in self._phases]
        return {"phases": phases, "estimate": self._estimate, "resumed": self._resumed}


def _by_lengths(pair: Pair, max_distance: int | None) -> int | None:
    """Return the distance if the lengths determine it, -1 if they prove that it exceeds `max_distance`, else None."""
    m, n = len(pair.query), len(pair.target)
    if max_distance is not None and abs(m - n) > max_distance:
        return -1
    return max(m, n) if min(m, n) == 0 else None
