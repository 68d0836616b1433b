"""Kinds of measurements: the command of each, its table, and where its peers are faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import batches, commands, single
from .text import Report, Rows, Wins


@dataclass(frozen=True)
class Kind:
    """A kind of measurement.

    Attributes:
        title: its heading.
        command: command that measures it.
        table: the rows, the head first.
        wins: for each row with an exact peer: its name, the peer, and our rate divided by the peer's.
        plot: file name of a plot beside the results, or the suffix of a plot named like the result.
    """

    title: str
    command: str
    table: Callable[[Report], Rows]
    wins: Callable[[Report], Iterator[Wins]] | None = None
    plot: str = ""


KINDS = {
    "bench": Kind("What wfacli bench measured", "wfacli bench", batches.bench, None, ".png"),
    "cpu-table": Kind("Pairs on one CPU thread", "make bench-cpu", batches.cells, batches.cell_wins, "cpu-table.png"),
    "cpu-table-x86-64-v3": Kind(
        "The same with at most AVX2", "WFACLI_ISA=x86-64-v3 make bench-cpu", batches.cells, batches.cell_wins
    ),
    "gpu-table": Kind("Pairs on a GPU", "make bench-gpu", batches.cells, batches.cell_wins),
    "kernel-table": Kind(
        "Each kernel for edit distance on a GPU", "python -m bench.tables.kernel_table", batches.kernels
    ),
    "gpus": Kind("One GPU and several", "make bench-gpus", batches.gpus),
    "mapped-bus": Kind(
        "Windows of a reference on the bus to a GPU", "python -m bench.experiments.mapped_bus", commands.bus
    ),
    "band-table": Kind("Bands on a GPU", "make bench-band", batches.bands),
    "shared-tiles": Kind("Noisy long reads, before and after", "bench/gpu_table.py of both commits", batches.tiles),
    "host-steps": Kind("Steps of the host, before and after", "bench/gpu_table.py of both commits", batches.steps),
    "two-piece-tiles": Kind("Two-piece gaps, before and after", "wfacli align of both commits", batches.trees),
    "extend-table": Kind(
        "Any scores, on one CPU thread", "python -m bench.tables.extend_table", batches.extends, batches.extend_wins
    ),
    "free-table": Kind(
        "Queries located in longer targets, on one CPU thread",
        "python -m bench.tables.free_table",
        batches.free,
        batches.free_wins,
    ),
    "overlap-table": Kind(
        "Overlaps of noisy reads, on one CPU thread",
        "python -m bench.tables.overlap_table",
        batches.overlaps,
        batches.overlap_wins,
    ),
    "sw-table": Kind("Any scores, on a GPU", "make bench-sw", batches.scored, batches.scored_wins, ".png"),
    "guided-table": Kind(
        "Extensions with a band and a Z-drop",
        "python -m bench.tables.guided_table",
        batches.guided,
        batches.guided_wins,
    ),
    "distance-table": Kind(
        "The distance of one long pair", "make bench-distance", single.distances, single.distance_wins
    ),
    "distance-table-on-cpu": Kind(
        "The same without a GPU", "make bench-distance", single.distances, single.distance_wins
    ),
    "distance-scale": Kind("Longer pairs", "make bench-distance-scale", single.scale, None, ".png"),
    "local-table": Kind(
        "The best local alignment of one long pair", "make bench-local", single.locals, single.local_wins
    ),
    "local-gpu": Kind("The same on a GPU", "make bench-local-gpu", single.local_gpu, single.local_gpu_wins, ".png"),
    "mapped-scores": Kind(
        "Mapped reads: scores compared with minimap2", "python -m bench.tables.mapped_scores", commands.mapped
    ),
    "whole-jobs": Kind(
        "Whole runs compared with minimap2 and samtools",
        "python -m bench.tables.whole_jobs",
        commands.whole_jobs,
    ),
    "map-quality": Kind(
        "Simulated reads compared with minimap2 -a: positions, variants, time",
        "python -m bench.tables.map_quality",
        commands.map_quality,
    ),
    "whole-command": Kind("The whole command", "make bench", commands.whole),
    "whole-command-gpu": Kind(
        "The same with a GPU", "python -m bench.tables.whole_command --engine gpu", commands.whole
    ),
    "whole-hifi-gpu": Kind("HiFi reads with a GPU", "python -m bench.tables.whole_command --real", commands.whole),
    "whole-ont-gpu": Kind("ONT reads with a GPU", "python -m bench.tables.whole_command --real", commands.whole),
    "data-path": Kind("Reading files", "python -m bench.tables.data_path", commands.path, commands.path_wins),
    "peak-memory": Kind("Peak memory of the whole command", "make bench", commands.memory),
    "api-rate": Kind("From Python", "python -m bench.tables.api_rate", commands.api, commands.api_wins),
    "reuse-memory": Kind("Memory of a reused engine", "python -m bench.experiments.reuse_memory", commands.reused),
    "long-pairs": Kind("Long pairs with wfacli align", "python -m bench.experiments.long_pairs", single.long),
}
NO_TABLE = {
    "crossover": "models of the times of kernels (`python -m bench.experiments.crossover`)",
    "cluster-overhead": "a Dask cluster beside the same shards alone (`python -m bench.experiments.cluster_overhead`)",
    "shared-gpu": "two shards in parallel on one GPU (`python -m bench.experiments.shared_gpu`)",
    "mapped-gpu": "`wfacli map` beside a GPU with wide and narrow stripes of tiles, and `minimap2 -a` in the same run",
    "fuzz-space": "random cases of the whole option space compared with an oracle (`make fuzz`)",
}
