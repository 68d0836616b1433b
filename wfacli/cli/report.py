"""Summary line and JSON report of a finished run."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from .. import __version__
from ..core.stats import counted, versions
from ..errors import WfacliError
from ..io.write.output import Output
from ..run.batch_run import BatchRun


def summary(run: BatchRun) -> str:
    """Return one line: pairs, effects of limits and heuristics, bases, identity, time, rate, engine."""
    c, wall = run.stats.counts, run.stats.wall
    engine = run.aligner.engine.stats()
    identity = f"{100 * run.stats.identity:.2f}% identity, " if c["matches"] or c["mismatches"] else ""
    return (
        f"{run.account.subject()}{_limit_counts(run)}, {_bases(c['query_bases'])} of queries, "
        f"{_bases(c['target_bases'])} of targets, {identity}{wall:.2f} s, {rate(c['pairs'] / wall)} pairs/s "
        f"({where(engine)})"
    )


def where(engine: dict[str, Any]) -> str:
    """Return the engine's processors as text."""
    if "cpu" in engine:
        return f"{engine['engine']} {engine['gpu']}, {where(engine['cpu'])}"
    return f"{engine['engine']} {engine['instruction_set']}, {counted(engine['threads'], 'thread')}"


def _limit_counts(run: BatchRun) -> str:
    """Return, in parentheses, counts of pairs that the user's limits or heuristics affected; "" if there are none."""
    counts = {what: run.stats.unaligned[status] for status, what in run.account.left_out.items()}
    counts["that may be improved"] = run.stats.counts["heuristic"]
    words = ", ".join(f"{n:,} {what}" for what, n in counts.items() if n)
    return f" ({words})" if words else ""


def rate(per_second: float) -> str:
    """Format a rate with at least two significant digits."""
    return f"{per_second:,.0f}" if per_second >= 10 else f"{per_second:.2g}"


def _bases(count: float) -> str:
    for unit, size in (("Gb", 1e9), ("Mb", 1e6), ("kb", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} b"


def unaligned_of(run: BatchRun) -> dict[str, int]:
    """Return the numbers of pairs that have no alignment for other reasons than the user's limits, by status."""
    return {status: n for status, n in run.stats.unaligned.items() if n and status not in run.account.left_out}


def unaligned_message(unaligned: dict[str, int]) -> str:
    """Return a message about pairs without an alignment, by status; "" if there are none."""
    failed = sum(unaligned.values())
    if not failed:
        return ""
    reasons = ", ".join(f"{n:,} {status}" for status, n in sorted(unaligned.items()))
    hints = {
        "MEMORY_LIMIT": "; --max-memory is the limit of each",
        "SCORE_RANGE": "; a score must fit 32 bits: lower --match or --penalties",
    }
    more = "".join(hint for status, hint in hints.items() if status in unaligned)
    return f"{counted(failed, 'pair', 'was', 'were')} written without an alignment ({reasons}){more}"


def fail_if_unaligned(unaligned: dict[str, int]) -> None:
    """Raise WfacliError if pairs have no alignment."""
    if message := unaligned_message(unaligned):
        raise WfacliError(message)


def cautions(run: BatchRun) -> list[str]:
    """Return the warnings about a finished run and its inputs."""
    found = []
    non_nucleotide = run.stats.counts["non_nucleotide"]
    if non_nucleotide and (options := run.account.protein_options):
        found.append(
            f"{counted(non_nucleotide, 'pair', 'contains', 'contain')} characters that are not nucleotide codes and "
            f"match nothing; for proteins give {options}"
        )
    if failure := run.aligner.engine.stats().get("failure"):
        found.append(f"the GPU failed, and the CPU aligned the rest: {failure}")
    if caution := run.account.caution():
        found.append(caution)
    return found


def write_stats(out: Output, run: BatchRun, complete: bool) -> None:
    """Write the JSON report of a run. Raises OutputError."""
    config = run.config
    report = {
        "complete": complete,
        "versions": versions(__version__),
        "command_line": config.command_line,
        "options": {
            "spec": run.account.spec,
            "output": asdict(config.output),
            "limits": asdict(config.limits),
            "threads": config.threads,
            "batch_bases": run.inputs.batch_bases,
            "check": config.check,
        },
        "engine": run.aligner.engine.stats(),
        **run.stats.report(),
        **run.account.more(),
    }
    out.write_whole(json.dumps(report, indent=2).encode() + b"\n")
