"""What a run in shards costs at 10^12 pairs on 1, 100 and 10,000 nodes: measured steps, and a model made of them.

    python -m bench.tables.scale_model [--rows TEXT ...] [--records 10000000 ...] [--shards 10000]
        [--pairs-per-second 1e7] [--folder DIR] [--minutes M] [--save] [--model-of RESULT]

The steps are real commands. `plan` reads a file of N pairs, of 1 base and, up to 10^7 pairs, of 150. `merge`
reads N records in the parts of S shards, which are hard links to the part of one shard that was
executed, each with a manifest of its own, and writes to /dev/null; sorted parts interleave record by record. `plan
--status` looks at all manifests. Sequences are short, so that there are as many records as the disk can hold. The
model takes the rates of these commands, and that of a node with one GPU (10 M pairs of 150 bases a second to PAF,
by the result whole-command-gpu), and says which step is the longest.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from bench.harness import saving, table
from bench.harness.command import measured
from bench.harness.pairs import simulated
from wfacli import __version__
from wfacli.shards.manifest import Parts
from wfacli.shards.plan_file import read_plan

RECORDS = (10_000_000, 100_000_000, 1_000_000_000)
TIMED = {
    "seconds": "the command from outside, its start and end included; files are in the page cache if it holds them",
    "peak_memory_bytes": "most resident memory of the process, as the kernel counts it, Python and all",
    "plan_bytes": "size of the plan",
    "model": "hours of each step, bytes and files, by the largest row of each kind: its seconds, or its processor "
    "seconds where those are fewer, since it then waited for a processor; not measured",
}
KINDS = ("plan", "plan of 150 bases", "status", "merge paf", "merge sorted bam")
LARGEST = {"plan of 150 bases": 10_000_000}  # records, for the disk's sake
MODEL_PAIRS = 10**12
NODES = (1, 100, 10_000)
_IN_A_PART = 100_000  # records of the part that others are links to
_PAIR_BYTES = 2 * 163  # stored bytes of a pair of 150 bases in FASTA, uncompressed
_RECORD_BYTES = {"paf": 107, "sorted bam": 70}  # bytes of a record of such a pair, of the second deflated
_SHARDS_OF_A_FILE, _FILES = 10_000, 1_000  # the model's shards of a plan, and files if each has its own plan
_READ, _REFERENCE = 20, 1_000_000  # bases
_MAPPED = ("reads.fa", "ref.fa", "--mappings", "map.paf")
console = Console()


@dataclass(frozen=True)
class Step:
    """A row.

    Attributes:
        kind: one of KINDS.
        records: number of pairs or records.
    """

    kind: str
    records: int

    @property
    def name(self) -> str:
        """Name of the row."""
        return f"{self.kind}, {self.records:,} records"


class Steps:
    """Execution of the steps, in a folder for their files."""

    def __init__(self, folder: Path, shards: int) -> None:
        """Take an empty folder, and the number of shards of all plans."""
        self._folder, self._shards = folder, shards

    def row_of(self, step: Step) -> table.Report:
        """Execute a step, and return its row."""
        actions: dict[str, Callable[[int], table.Report]] = {
            "plan": self._plan,
            "plan of 150 bases": self._plan_of_reads,
            "status": self._status,
            "merge paf": lambda records: self._merge(records, "paf"),
            "merge sorted bam": lambda records: self._merge(records, "sorted bam"),
        }
        found = actions[step.kind](step.records)
        rate = {"records_per_second": round(step.records / found["seconds"])}
        return {
            "name": step.name,
            "kind": step.kind,
            "records": step.records,
            "shards": self._shards,
            **found,
            **rate,
        }

    def _plan(self, records: int) -> table.Report:
        path = self._folder / "pairs.seq"
        block = b">A\n<C\n" * 1_000_000
        with path.open("wb") as file:
            for done in range(0, records, 1_000_000):
                file.write(block[: 6 * min(1_000_000, records - done)])
        words = ["plan", path.name, "--format", "paf", "--shards", str(self._shards), "-o", "big.plan", "-q"]
        try:
            found = measured(words, self._folder)
        finally:
            path.unlink()
        return {**found, "bytes_read": 6 * records, "plan_bytes": (self._folder / "big.plan").stat().st_size}

    def _plan_of_reads(self, records: int) -> table.Report:
        files = simulated(self._folder, records, 150, 0.02)
        words = ["plan", *(path.name for path in files), "--format", "paf", "--shards", str(self._shards)]
        size = sum(path.stat().st_size for path in files)
        for path in files:  # into the page cache, as far as it has room
            with path.open("rb", buffering=0) as file:
                while file.read(1 << 24):
                    pass
        try:
            found = measured([*words, "-o", "big.plan", "-q"], self._folder)
        finally:
            for path in files:
                path.unlink()
        return {**found, "bytes_read": size, "plan_bytes": (self._folder / "big.plan").stat().st_size}

    def _status(self, records: int) -> table.Report:
        self._link_parts(records, "paf")
        return measured(["plan", "--status", "run.plan", "--parts", "parts", "-q"], self._folder)

    def _merge(self, records: int, form: str) -> table.Report:
        read = self._link_parts(records, form)
        words = ["merge", "run.plan", "--parts", "parts", "-o", "/dev/null", "-q"]
        return {**measured(words, self._folder), "bytes_read": read}

    def _link_parts(self, records: int, form: str) -> int:
        """Make a plan, and parts that have `records` records together; return their bytes."""
        each = -(-records // self._shards)
        pairs = min(each, _IN_A_PART)
        self._write_reads(pairs)
        options = ["--format", "paf"] if form == "paf" else ["--format", "bam", "--sort", "--compression", "1"]
        for plan, shards in (("one.plan", 1), ("run.plan", self._shards)):
            measured(["plan", *_MAPPED, *options, "--shards", str(shards), "-o", plan, "-q"], self._folder)
        measured(["align", "--plan", "one.plan", "--shard", "1/1", "-q"], self._folder)
        return self._write_parts(each)

    def _write_reads(self, count: int) -> None:
        """Write reads at random places of a reference, so that sorted parts have to be merged record by record."""
        rng = np.random.default_rng(1)
        reference = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, _REFERENCE)].tobytes().decode()
        (self._folder / "ref.fa").write_text(f">chr1\n{reference}\n")
        places = rng.integers(0, _REFERENCE - _READ, count).tolist()
        reads = (f">r{i}\n{reference[at : at + _READ]}\n" for i, at in enumerate(places))
        (self._folder / "reads.fa").write_text("".join(reads))
        ends = f"{_READ}\t{_READ}\t60\ttp:A:P"
        rows = (
            f"r{i}\t{_READ}\t0\t{_READ}\t+\tchr1\t{_REFERENCE}\t{at}\t{at + _READ}\t{ends}\n"
            for i, at in enumerate(places)
        )
        (self._folder / "map.paf").write_text("".join(rows))

    def _write_parts(self, each: int) -> int:
        """Link the part of one.plan to all parts of run.plan, which then have `each` records; return their bytes."""
        one = Parts(read_plan(str(self._folder / "one.plan"), __version__), str(self._folder / "one.plan.parts"))
        file = read_plan(str(self._folder / "run.plan"), __version__)
        parts = Parts(file, str(self._folder / "parts"))
        parts.create_folder()
        manifest = one.manifest(1)
        assert manifest and manifest.pairs == each, "parts with more records are not made"
        for shard in parts.numbers:
            Path(parts.path(shard)).unlink(missing_ok=True)
            os.link(one.path(1), parts.path(shard))
            described = dataclasses.asdict(dataclasses.replace(manifest, plan=file.digest, shard=shard))
            Path(parts.manifest_path(shard)).write_text(json.dumps(described))
        return manifest.bytes * file.plan.shards


def model(rows: Sequence[table.Report], pairs_per_second: float) -> table.Report:
    """Return hours, bytes and files of 10^12 pairs of 150 bases on each number of nodes, by measured rates.

    Args:
        rows: measured rows; of each kind the one with most records counts.
        pairs_per_second: of a node with one GPU, from files to files.
    """
    # A command that waited for a processor of a busy machine counts by its processor time.
    rates = {
        row["kind"]: row["records"] / min(row["seconds"], row["cpu_seconds"])
        for row in sorted(rows, key=lambda row: row["records"])
    }
    if not {"plan of 150 bases", "merge paf", "merge sorted bam"} <= set(rates):
        return {}
    rates["plan"] = rates["plan of 150 bases"]
    of_nodes: dict[str, table.Report] = {}
    for nodes in NODES:
        shards = MODEL_PAIRS / pairs_per_second / nodes / 3600
        one = {step: MODEL_PAIRS / rates[step] / 3600 for step in ("plan", "merge paf", "merge sorted bam")}
        at_once = min(nodes, _FILES)
        each = {step: hours / at_once for step, hours in one.items()}
        of_nodes[str(nodes)] = {
            "shards": _rounded(shards),
            "input_bytes_per_second": _rounded(nodes * pairs_per_second * _PAIR_BYTES),
            "one_plan": {step: _rounded(hours) for step, hours in one.items()},
            f"{_FILES}_plans": {step: _rounded(hours) for step, hours in each.items()},
            "longest": max({"shards": shards, **one}, key={"shards": shards, **one}.__getitem__),
        }
    nodes_of_plan = rates["plan"] / pairs_per_second
    all_shards = _SHARDS_OF_A_FILE * _FILES
    return {
        "pairs": MODEL_PAIRS,
        "pairs_per_second_of_a_node": pairs_per_second,
        "gpu_hours": _rounded(MODEL_PAIRS / pairs_per_second / 3600),
        "bytes_read": {"plan": MODEL_PAIRS * _PAIR_BYTES, "shards": MODEL_PAIRS * _PAIR_BYTES},
        "bytes_of_a_part": {form: round(MODEL_PAIRS * size / all_shards) for form, size in _RECORD_BYTES.items()},
        "bytes_of_parts": {form: MODEL_PAIRS * size for form, size in _RECORD_BYTES.items()},
        "files": 2 * all_shards,
        "nodes_that_one_plan_keeps_busy": _rounded(nodes_of_plan),
        "nodes_that_one_merge_keeps_busy": {
            form: _rounded(rates[f"merge {form}"] / pairs_per_second) for form in _RECORD_BYTES
        },
        "hours_on_nodes": of_nodes,
    }


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "rows", "minutes", "save")
    parser.add_argument("--records", type=int, nargs="+", default=list(RECORDS))
    parser.add_argument("--shards", type=int, default=10_000)
    parser.add_argument("--pairs-per-second", type=float, default=1e7, help="of a node with one GPU")
    parser.add_argument("--folder", type=Path, help="where a folder for all files is made")
    parser.add_argument("--model-of", type=Path, metavar="RESULT", help="only make the model of a result again")
    parser.add_argument("--note", default="", help="what else the machine did")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    if a.model_of:
        report = json.loads(a.model_of.read_text())
        report["what_is_timed"] = TIMED
        report["model"] = model(report["rows"], a.pairs_per_second)
        a.model_of.write_text(saving.text_of(report))
        print(table_of(report["model"]))
        return
    work = [Step(kind, records) for records in a.records for kind in KINDS if records <= LARGEST.get(kind, records)]
    part = sorted(a.records) != sorted(RECORDS) or a.shards != _SHARDS_OF_A_FILE
    runner = table.Runner("scale-model", TIMED, a, console, part=part)

    def result() -> table.Report:
        said = {"note": a.note} if a.note else {}
        return {**said, "workload": {"shards": a.shards}, "model": model(runner.rows, a.pairs_per_second)}

    def shown(step: Step, row: table.Report) -> str:
        memory = f"{row['peak_memory_bytes'] / 1e6:.0f} MB"
        return f"{step.name}: {row['seconds']:.1f} s, {row['records_per_second'] / 1e6:.2f} M/s, {memory}"

    with tempfile.TemporaryDirectory(prefix="wfacli-scale-", dir=a.folder) as name:
        runner.measure(table.chosen(work, a), Steps(Path(name), a.shards).row_of, result, shown)
    print(table_of(model(runner.rows, a.pairs_per_second)))
    if runner.path:
        print(runner.path)


def table_of(found: table.Report) -> str:
    """Return the model's hours as lines of text."""
    lines = []
    for nodes, hours in found.get("hours_on_nodes", {}).items():
        one = ", ".join(f"{step} {value:g}" for step, value in hours["one_plan"].items())
        lines.append(
            f"{int(nodes):,} nodes: shards {hours['shards']:g} h; of one plan: {one}; longest: {hours['longest']}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
