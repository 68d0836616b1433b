"""The figures of a report as custom content of MultiQC: one JSON file for each section of its page.

MultiQC reads files with `_mqc` in their names, and puts the samples of all files with the same id into one plot. So
the bins of all samples have to be the same, and values are shares or rates that can be compared.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UsageError, shown
from . import bins
from .charts import Part
from .depth_plot import largest, mean_depth, name_of
from .facts import Facts
from .figures import Sum
from .plots import base_parts, quality_ranges

_MAX_GAP = 30  # longest gap that is drawn, in bases
_MAX_TARGETS = 25
_LENGTHS_PER_DOUBLING = 8
_IDENTITY_STEP = 10  # bins of identity per point: 0.1%
_COLOURS = {1: "#2f6fb3", 2: "#d0661b", 3: "#d9a514"}  # as on our own page
_ABOUT = "computes exact base-level alignments of reads and pairs of sequences."

Json = dict[str, Any]
# Values by name, or points of a line; MultiQC would sort points by x as text if they were a mapping.
Data = dict[str, Any] | list[list[float]]


def sections(mapped: bool, scores_only: bool) -> list[str]:
    """Return the names of the sections of a run, which depend on its options alone."""
    names = ["general", "outcome", "lengths"]
    names += [] if scores_only else ["bases", "identity", "insertions", "deletions"]
    return names + (["depth", "quality"] if mapped else [])


def paths(prefix: str, *, mapped: bool, scores_only: bool) -> tuple[str, ...]:
    """Return the paths of all files, PREFIX.wfacli_SECTION_mqc.json. Raises UsageError if the prefix has no name."""
    if not prefix or prefix.endswith("/") or Path(prefix).name in ("", ".", ".."):
        raise UsageError(f"--multiqc expects a sample's name, in a folder or not, like qc/sample1, not {prefix!r}")
    path = Path(prefix)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise UsageError(f"--multiqc expects a sample's name, and {shown(prefix)} is a device or a pipe")
    return tuple(f"{prefix}.wfacli_{name}_mqc.json" for name in sections(mapped, scores_only))


def content(facts: Facts, prefix: str) -> list[bytes]:
    """Return the contents of the files of paths(), in that order; the sample is called as the prefix's last part."""
    made = []
    for name in sections(facts.mapped, facts.scores_only):
        about, data = _SECTIONS[name](facts)
        values = {**_identified(about, facts, name), "data": {_text(Path(prefix).name): data} if data else {}}
        made.append(json.dumps(values, indent=1, allow_nan=False).encode() + b"\n")
    return made


def _text(name: str) -> str:
    """Return a name, which may come from an input, as MultiQC can put it into its page."""
    return html.escape(shown(name))


def _identified(about: Json, facts: Facts, name: str) -> Json:
    """Return a section with what MultiQC finds it by: reads, pairs and proteins have sections of their own."""
    kind, suffix = ("reads", "") if facts.mapped else ("pairs", " (pairs)")
    if facts.unit == "residue":
        kind, suffix = "proteins", " (proteins)"
    number = f"wfacli_{kind}_{about.pop('name', name)}"
    if about["plot_type"] == "generalstats":
        return {"id": number, "namespace": f"wfacli {kind}", **about}
    title = about["section_name"] + suffix
    pconfig = {"id": f"{number}_plot", "title": f"wfacli: {title}", **about["pconfig"]}
    return {"id": number, **_PARENT, **about, "section_name": title, "pconfig": pconfig}


_PARENT = {"parent_id": "wfacli", "parent_name": "wfacli", "parent_description": _ABOUT}


def _general(facts: Facts) -> tuple[Json, Data]:
    """Return the columns of MultiQC's first table; values that are unknown are left out."""
    found, things = facts.figures.counts, f"{facts.thing}s"
    values: Json = {things: facts.total}
    if facts.total:
        values["aligned"] = 100 * facts.aligned / facts.total
    if found["identity"].sum() and not facts.scores_only:
        values["identity"] = 100 * bins.identity_quantile(found["identity"], 0.5)
    if facts.figures.depth is not None:
        values["depth"] = mean_depth(facts)
    if facts.query_bases:
        values["n50"] = bins.n50(found["query_lengths"], found["query_bases"])
    columns = {
        things: _column(things.capitalize(), f"Number of {things}", "Blues", format="{:,.0f}"),
        "aligned": _column(
            "Mapped" if facts.mapped else "Aligned",
            f"Share of {things} that are {'mapped' if facts.mapped else 'aligned'}",
            "RdYlGn",
            suffix="%",
            max=100,
        ),
        "identity": _column(
            "Identity", "Median identity of the alignments", "PuBu", suffix="%", max=100, format="{:,.2f}"
        ),
        "depth": _column("Depth", "Mean depth over all bases of the reference", "BuPu", suffix="×", format="{:,.1f}"),
        "n50": _column(
            "N50",
            f"Half of all {facts.unit}s are in {facts.queries} of at least this length",
            "Greens",
            format="{:,.0f}",
            hidden=True,
        ),
    }
    if not facts.mapped:
        del columns["depth"]
    # All files of one section need the same columns, whatever is known of their samples.
    return {"plot_type": "generalstats", "headers": [{name: column} for name, column in columns.items()]}, values


def _column(title: str, description: str, scale: str, **more: Any) -> Json:
    return {"title": title, "description": description, "scale": scale, "min": 0, **more}


def _shares(title: str, text: str, unit: str, parts: list[Part]) -> tuple[Json, Data]:
    """Return a section with one bar for each sample, divided into parts."""
    about = {
        "section_name": title,
        "description": text,
        "plot_type": "bargraph",
        "categories": {part.name: {"name": part.name, "color": _COLOURS[part.series]} for part in parts},
        "pconfig": {"ylab": unit},
    }
    return about, {part.name: part.count for part in parts}


def _outcome(facts: Facts) -> tuple[Json, Data]:
    things = f"{facts.thing}s"
    without = Part("unmapped" if facts.mapped else f"without {facts.what}", facts.total - facts.aligned, 2)
    parts = [Part("mapped" if facts.mapped else f"with {facts.what}", facts.aligned, 1), without]
    return _shares(things.capitalize(), f"What became of the {things}.", things, parts)


def _bases(facts: Facts) -> tuple[Json, Data]:
    whose, units = facts.queries, f"{facts.unit}s"
    text = f"What became of the {units} of the {whose}."
    return _shares(f"{units.capitalize()} of {whose}", text, units, base_parts(facts))


def _line(title: str, text: str, x: str, y: str, **more: Any) -> Json:
    """Return a section with one line for each sample."""
    pconfig = {"xlab": x, "ylab": y, "ymin": 0, **more}
    return {"section_name": title, "description": text, "plot_type": "linegraph", "pconfig": pconfig}


def _identity(facts: Facts) -> tuple[Json, Data]:
    about = _line(
        "Identity",
        f"Identity of the {facts.alignments}: the share of columns, gaps included, in which both {facts.unit}s are "
        "the same. Points are 0.1% apart.",
        "identity (%)",
        "% of alignments",
        xsuffix="%",
    )
    found = facts.figures.counts["identity"]
    total = int(found.sum())
    if not total:
        return about, {}
    counts = np.add.reduceat(found, np.arange(0, len(found), _IDENTITY_STEP))
    first = int(np.flatnonzero(counts)[0])
    return about, [
        [round(100 * i * _IDENTITY_STEP / bins.IDENTITIES, 1), 100 * int(counts[i]) / total]
        for i in range(first, len(counts))
    ]


def _lengths(facts: Facts) -> tuple[Json, Data]:
    whose = facts.queries
    about = _line(
        f"Lengths of {whose}",
        f"Lengths of the {whose}; points are means of ranges, of which {_LENGTHS_PER_DOUBLING} double the length.",
        f"length ({facts.unit}s)",
        f"% of {whose}",
        logswitch=True,
    )
    found, bases = facts.figures.counts["query_lengths"], facts.figures.counts["query_bases"]
    total = int(found.sum())
    if not total:
        return about, {}
    edges = np.rint(2 ** (np.arange(0, 31 * _LENGTHS_PER_DOUBLING) / _LENGTHS_PER_DOUBLING))
    at = bins.distinct(np.append(0, np.searchsorted(bins.EDGES[:-1], edges[1:])))
    counts, sums = np.add.reduceat(found, at), np.add.reduceat(bases, at)
    return about, [
        [round(int(sums[i]) / int(counts[i]), 1), 100 * int(counts[i]) / total]
        for i in np.flatnonzero(counts).tolist()
    ]


def _gaps(name: str, facts: Facts) -> tuple[Json, Data]:
    about = _line(
        name.capitalize(),
        f"{name.capitalize()} of up to {_MAX_GAP} {facts.unit}s by length, per million aligned {facts.unit}s of the "
        f"{facts.queries}.",
        f"length ({facts.unit}s)",
        f"per million {facts.unit}s",
        logswitch=True,
    )
    found, aligned = facts.figures.counts[name], facts.figures.total(Sum.ALIGNED_BASES)
    if not aligned:
        return about, {}
    return about, [[size, 1e6 * int(found[size]) / aligned] for size in range(1, _MAX_GAP + 1)]


def _insertions(facts: Facts) -> tuple[Json, Data]:
    return _gaps("insertions", facts)


def _deletions(facts: Facts) -> tuple[Json, Data]:
    return _gaps("deletions", facts)


def _depth(facts: Facts) -> tuple[Json, Data]:
    text = "Mean number of primary and supplementary alignments over each base of the reference, deletions included."
    depth = facts.figures.depth
    assert depth is not None
    if len(depth.lengths) == 1:
        sizes, aligned = depth.profile(0)
        middles = (np.cumsum(sizes) - sizes // 2).tolist()
        about = _line("Depth along the reference", f"{text} In windows.", "position (bases)", "mean depth")
        values = [[at, round(mean, 4)] for at, mean in zip(middles, (aligned / sizes).tolist(), strict=True)]
        return {**about, "name": "depth_along"}, values
    bases = depth.aligned_bases()
    chosen = list(range(len(bases)))
    if len(bases) > _MAX_TARGETS:
        text += f" At most {_MAX_TARGETS} sequences, those with the most aligned bases."
        chosen = sorted(largest(facts, _MAX_TARGETS))
    about = _line("Depth by sequence", text, "sequence", "mean depth", categories=True)
    return about, {_text(name_of(facts, i)): int(bases[i]) / max(int(depth.lengths[i]), 1) for i in chosen}


def _quality(facts: Facts) -> tuple[Json, Data]:
    ranges = quality_ranges(facts)
    about = {
        "section_name": "Mapping quality",
        "description": "Mapping quality (MAPQ) of the primary alignments, as the mapper gave it.",
        "plot_type": "bargraph",
        "categories": [name for name, _ in ranges],
        "pconfig": {"ylab": "primary alignments"},
    }
    return about, dict(ranges) if facts.aligned else {}


_SECTIONS: dict[str, Callable[[Facts], tuple[Json, Data]]] = {
    "general": _general,
    "outcome": _outcome,
    "bases": _bases,
    "identity": _identity,
    "lengths": _lengths,
    "insertions": _insertions,
    "deletions": _deletions,
    "depth": _depth,
    "quality": _quality,
}
