"""What the report of a finished run says, and its files."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.stats import peak_memory
from ..report.facts import Facts, Machine
from ..report.multiqc import content
from ..report.page import page
from ..run.batch_run import BatchRun
from .report import cautions, unaligned_message, unaligned_of, where

# Statuses that have no meaning in Account.left_out, as a reader of the report would call them.
_REASONS = {
    "MEMORY_LIMIT": "over the limit of memory",
    "LENGTH_LIMIT": "too long",
    "SCORE_RANGE": "with a score beyond 32 bits",
}


def contents_of(run: BatchRun, command: str) -> dict[str, bytes]:
    """Return the contents of the reports that show figures, by path."""
    facts, files = facts_of(run, command), run.report_files
    made = {} if files.page is None else {files.page: page(facts)}
    if files.prefix is not None:
        made.update(zip(files.multiqc, content(facts, files.prefix), strict=True))
    return made


def facts_of(run: BatchRun, command: str) -> Facts:
    """Return what the report of a finished run says."""
    assert run.figures is not None
    counts, spec, values = run.stats.counts, run.account.spec, run.account.more()
    mapped = run.inputs.sequences is not None
    files = run.inputs.files
    failed = unaligned_message(unaligned_of(run))
    left_out = run.account.left_out
    common: dict[str, Any] = {
        "command": command,
        "title": Path(files.query if run.output.streams else run.output.name).name,
        "inputs": _inputs(run, mapped),
        "figures": run.figures,
        "machine": _machine(run, values),
        "mapped": mapped,
        "unit": "residue" if counts["non_nucleotide"] and not run.account.protein_options else "base",
        "scores_only": bool(spec["score_only"]),
        "identity": run.stats.identity,
        "settings": tuple(_settings(spec)),
        "cautions": (*cautions(run), *([failed] if failed else [])),
    }
    if mapped:
        return Facts(
            **common,
            total=values["reads"],
            secondary=values["secondary"],
            supplementary=values["supplementary"],
            skipped=values["skipped"],
        )
    reasons = {left_out.get(s, _REASONS.get(s, s)): n for s, n in run.stats.unaligned.items() if n}
    return Facts(**common, total=counts["pairs"], unaligned=reasons)


def _inputs(run: BatchRun, mapped: bool) -> tuple[tuple[str, str], ...]:
    files = run.inputs.files
    target = getattr(files, "target", None)
    if mapped:
        reads = [
            name for name in files.paths if name and name not in (files.reference, getattr(files, "mappings", None))
        ]
        named = [*(("reads", name) for name in reads), ("reference", files.reference)]
    elif target is None:
        named = [("pairs", files.query)]
    else:
        named = [("queries", files.query), ("targets", target)]
    return tuple((what, "standard input" if name == "-" else name) for what, name in named)


def _machine(run: BatchRun, values: dict[str, Any]) -> Machine:
    stats, mapper = run.stats, values.get("mapper") or {}
    wall = stats.wall
    done = values.get("reads", stats.counts["pairs"])
    parts = (mapper.get("name"), mapper.get("version"), mapper.get("command"))
    return Machine(
        command_line=run.config.command_line,
        version=__version__,
        mapper=": ".join(filter(None, (" ".join(filter(None, parts[:2])), parts[2]))),
        date=time.strftime("%Y-%m-%d %H:%M:%S %z"),
        where=where(run.aligner.engine.stats()),
        wall=wall,
        per_second=done / wall,
        peak_memory=peak_memory(),
        stages=dict(stats.seconds),
        kernels=dict(stats.kernels),
    )


def _settings(spec: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how alignments were scored, in the words of the options."""
    if "scores" in spec:  # extend
        opening, extension = spec["gaps"]
        scoring = f"{spec['scores']}, gap opening {opening}, gap extension {extension}"
        return [("mode", spec["mode"]), ("scores", scoring), *_heuristics(spec)]
    penalties = spec["penalties"]
    gaps = " or ".join(f"gap opening {opening}, gap extension {extension}" for opening, extension in penalties["gaps"])
    scoring = f"{spec['metric']}: match {penalties['match']}, mismatch {penalties['mismatch']}, {gaps}"
    if penalties["ambiguous"] is not None:
        scoring += f", N {penalties['ambiguous']}"
    how = ("span", spec["mapping"]["span"]) if "mapping" in spec else ("mode", str(spec["mode"]))
    return [(how[0], str(how[1])), ("scores", scoring), *_heuristics(spec["heuristics"])]


def _heuristics(values: dict[str, Any]) -> list[tuple[str, str]]:
    named = [(name, values[key]) for name, key in (("band", "band"), ("X-drop", "xdrop"), ("Z-drop", "zdrop"))]
    found = ", ".join(f"{name} {value}" for name, value in named if value)
    return [("heuristics", found)] if found else []
