"""`wfacli bench`: measure alignment rates on this machine."""

from __future__ import annotations

import json
import math
import time
from typing import Any

from .._native import keep_memory_flat
from ..config import AlignSpec, EngineName, Metric
from ..core.cores import usable_cores
from ..core.interruption import deferred
from ..dotplot.picture import PictureFormat
from ..errors import DeviceError, UsageError
from ..gpu.runtime.presence import may_have_gpu
from ..io.write.output import Output, refuse_overwriting
from ..measure.energy import Meter, meter
from ..measure.limits import bus_rate, memory_rate
from ..measure.page import page
from ..measure.report import Limits, report
from ..measure.session import Plan, Row, Session, Setting
from ..measure.work import Work, default_error
from ..simulate.pairs import MAX_ERROR
from .bench_options import (
    BenchEngineOption,
    BenchPlotOption,
    BenchStatsOption,
    ErrorsOption,
    LengthsOption,
    MetricsOption,
    MinutesOption,
    PairsOption,
    QuickOption,
    RepeatsOption,
    ThreadCountsOption,
    Wanted,
    WantedOption,
)
from .bench_table import print_report
from .console import note
from .numbers import count_of
from .options import DebugOption, GpuMemoryOption, ProgressOption, QuietOption
from .pictures import picture_format
from .progress import shown_long
from .progress_line import ProgressLine
from .scoring import (
    BandOption,
    Extent,
    HeuristicOptions,
    MatchOption,
    PenaltiesOption,
    Scoring,
    XdropOption,
    gpu_memory_of,
    spec_of,
)
from .simulate_options import Model, ModelOption, SeedOption

_METRICS = (Metric.AFFINE, Metric.EDIT)
_LENGTHS = ("150", "1k", "10k")
_ERRORS = (0.02, 0.05, 0.1)
_UNIFORM = Model("uniform")
_QUICK, _GPU_FACTOR = 0.25, 20.0  # factors of the default number of pairs: --quick, GPU
_MAX_BASES = 300_000_000  # maximum bases per row of the table
_LONGEST = 10_000_000  # maximum bases per sequence: longer pairs are not aligned in batches
_REPEATS, _QUICK_REPEATS = 5, 3


def bench(
    length: LengthsOption = None,
    error: ErrorsOption = None,
    model: ModelOption = _UNIFORM,
    pairs: PairsOption = None,
    seed: SeedOption = 1,
    repeats: RepeatsOption = None,
    minutes: MinutesOption = None,
    quick: QuickOption = False,
    metric: MetricsOption = None,
    task: WantedOption = Wanted.BOTH,
    penalties: PenaltiesOption = None,
    match: MatchOption = 0,
    band: BandOption = None,
    xdrop: XdropOption = 0,
    engine: BenchEngineOption = EngineName.AUTO,
    threads: ThreadCountsOption = None,
    gpu_memory: GpuMemoryOption = None,
    stats: BenchStatsOption = None,
    plot: BenchPlotOption = None,
    progress: ProgressOption = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Measures, and prints a table; the help is BENCH_HELP."""
    chosen = None if plot is None else picture_format(plot)
    specs = _specs(metric, task, penalties, match, band, xdrop)
    counts = _threads(threads)
    works = _works(length, error, str(model), seed)
    share = _QUICK if quick else 1.0
    fixed = None if pairs is None else count_of("--pairs", pairs)
    if fixed == 0:
        raise UsageError("--pairs is 0: there is nothing to measure")

    def pairs_of(work: Work, where: EngineName) -> int:
        times = share * (_GPU_FACTOR if where is EngineName.GPU else 1.0)
        return fixed or work.default_pairs(times, int(_MAX_BASES * share))

    end = math.inf if minutes is None else time.monotonic() + 60 * minutes
    limit, memory = Limits(), gpu_memory_of(gpu_memory)
    refuse_overwriting((), (stats, plot))
    outputs = {name: Output(path) for name, path in (("stats", stats), ("plot", plot)) if path is not None}
    try:
        keep_memory_flat()
        settings, counter, left_out = _settings(engine, counts, limit)
        tries = repeats or (_QUICK_REPEATS if quick else _REPEATS)
        heuristics = specs[0].heuristics
        exact = [_exact(spec) for spec in specs]
        plan = Plan(works, pairs_of, exact, heuristics, settings, tries, usable_cores(), memory, end)
        session = Session(plan, counter, None if quiet else note)
        rows = _measured(session, progress, quiet)
        options = {"quick": quick, "pairs": fixed, "seed": seed, "model": str(model), "task": str(task)}
        found = report(session, rows, limit, left_out, options)
        _write(outputs, found, chosen)
    except BaseException:
        for out in outputs.values():
            out.abandon()
        raise
    if stats != "-" and plot != "-":
        print_report(found)


def _measured(session: Session, progress: bool | None, quiet: bool) -> list[Row]:
    begun, plan = time.perf_counter(), session.plan
    rows: list[Row] = []

    def progress_line() -> ProgressLine:
        share, elapsed = len(rows) / plan.size, time.perf_counter() - begun
        to_go = min(elapsed / share - elapsed, max(0.0, plan.end - time.monotonic())) if len(rows) > 2 else None
        return ProgressLine(f"{len(rows)} of {plan.size} rows", share, to_go)

    with shown_long(progress_line, progress, quiet):
        rows.extend(session.rows())
    if not rows and plan.end < math.inf:
        raise UsageError("--minutes ended before anything was measured")
    return rows


def _settings(
    engine: EngineName, threads: list[int], limits: Limits
) -> tuple[list[Setting], Meter | None, dict[str, str]]:
    """Return the engines to measure, the GPU energy meter or None, and omissions with reasons; fill in `limits`."""
    settings, left_out, counter = [], {}, None
    if engine is not EngineName.GPU:
        settings = [Setting(EngineName.CPU, count) for count in threads]
        limits.memory = {count: memory_rate(count) for count in threads}
    if engine is EngineName.GPU or (engine is EngineName.AUTO and may_have_gpu()):
        try:
            limits.bus = bus_rate()
        except DeviceError as problem:
            if engine is EngineName.GPU:
                raise
            left_out["gpu"] = str(problem)
        else:
            settings.append(Setting(EngineName.GPU, max(threads)))
            counter, why = meter()
            left_out |= {"joules": why} if why else {}
    elif engine is EngineName.AUTO:
        left_out["gpu"] = "no NVIDIA driver, or no kernels for it (see wfacli doctor)"
    return settings, counter, left_out


def _specs(
    metrics: list[Metric] | None, wanted: Wanted, penalties: str | None, match: int, band: str | None, xdrop: int
) -> list[AlignSpec]:
    chosen = list(dict.fromkeys(metrics or _METRICS))
    if penalties is not None and len(chosen) > 1:
        raise UsageError("--penalties require one --metric")
    scores = {Wanted.CIGAR: (False,), Wanted.SCORE: (True,), Wanted.BOTH: (False, True)}[wanted]
    return [
        spec_of(Scoring(metric, penalties, match, score_only=score_only), Extent(), HeuristicOptions(band, xdrop))
        for metric in chosen
        for score_only in scores
    ]


def _each(given: list[str]) -> list[str]:
    """Split comma-separated values of an option that may be repeated, into one list."""
    return [part for text in given for part in text.split(",")]


def _works(lengths: list[str] | None, errors: list[str] | None, model: str, seed: int) -> list[Work]:
    default_errors = _ERRORS if model == "uniform" else (default_error(model),)
    shares = default_errors if errors is None else tuple(_error(text) for text in _each(errors))
    targets = [count_of("--length", text) for text in _each(lengths or [*_LENGTHS])]
    if not all(1 <= one <= _LONGEST for one in targets):
        raise UsageError(f"--length is 1 to {_LONGEST:,} bases; wfacli distance and local support longer pairs")
    return [Work(one, share, model, seed) for one in dict.fromkeys(targets) for share in dict.fromkeys(shares)]


def _error(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= MAX_ERROR:
        raise UsageError(f"--error is edits per base, 0 to {MAX_ERROR}, not {text!r}")
    return share


def _threads(given: list[str] | None) -> list[int]:
    if given is None:
        return sorted({1, usable_cores()})
    parts = [part.strip() for part in _each(given)]
    wrong = [part for part in parts if not (part.isascii() and part.isdigit() and int(part))]
    if wrong:
        raise UsageError(f"--threads expects numbers like 1,8, not {wrong[0]!r}")
    return sorted({int(part) for part in parts})


def _exact(spec: AlignSpec) -> AlignSpec:
    return AlignSpec(spec.metric, spec.penalties, score_only=spec.score_only)


def _write(outputs: dict[str, Output], found: dict[str, Any], chosen: PictureFormat | None) -> None:
    if "stats" in outputs:
        outputs["stats"].write(json.dumps(found, indent=2).encode() + b"\n")
    if chosen is PictureFormat.HTML:
        outputs["plot"].write(page(found))
    elif chosen is not None:
        with deferred():  # as in dotplot.draw
            from ..measure.figure import figure
        outputs["plot"].write(figure(found, chosen))
    for out in outputs.values():
        out.finish()
