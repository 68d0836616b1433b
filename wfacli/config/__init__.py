"""The user's options, validated and immutable."""

from .alignment import (
    MAX_HEURISTIC,
    MAX_PENALTY,
    MAX_SCORE,
    PENALTIES,
    WHOLE,
    AlignSpec,
    Ambiguous,
    FreeEnds,
    Heuristics,
    Metric,
    Mode,
    Penalties,
)
from .mapping import Ends, MappingSpec, Span
from .output import NO_REPORTS, SORT_MEMORY, CigarStyle, Container, Format, OutputSpec, ReportFiles, parse_read_group
from .run import CPU_BATCH, GPU_BATCH, MAX_THREADS, MIB, Config, EngineName, Limits, RunConfig

__all__ = [
    "CPU_BATCH",
    "GPU_BATCH",
    "MAX_HEURISTIC",
    "MAX_PENALTY",
    "MAX_SCORE",
    "MAX_THREADS",
    "MIB",
    "NO_REPORTS",
    "PENALTIES",
    "SORT_MEMORY",
    "WHOLE",
    "AlignSpec",
    "Ambiguous",
    "CigarStyle",
    "Config",
    "Container",
    "Ends",
    "EngineName",
    "Format",
    "FreeEnds",
    "Heuristics",
    "Limits",
    "MappingSpec",
    "Metric",
    "Mode",
    "OutputSpec",
    "Penalties",
    "ReportFiles",
    "RunConfig",
    "Span",
    "parse_read_group",
]
