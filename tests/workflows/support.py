"""A run that workflows execute, and the environment with the command."""

from __future__ import annotations

import random
from pathlib import Path

from tests.cli.support import command, environment
from tests.mapped.world import random_world
from tests.shards.support import on_one_machine

ROOT = Path(__file__).parents[2] / "workflows"
ARGUMENTS = ["reads.fq", "ref.fa", "--mappings", "map.paf", "--sort"]


def write_inputs(folder: Path) -> bytes:
    """Write reads, a reference and mappings; return the BAM of the run on one machine with `-o out.bam`."""
    random_world(random.Random(1).randrange(1000), 250).write(folder)
    on_one_machine(folder, "align", [*ARGUMENTS, "-o", "out.bam"])
    expected = (folder / "out.bam").read_bytes()
    (folder / "out.bam").unlink()
    return expected


def path_with_command(*first: Path) -> dict[str, str]:
    """Return an environment in which `wfacli` is the command under test, after other folders."""
    more = environment()
    return {**more, "PATH": ":".join([*map(str, first), str(Path(command()[0]).parent), more["PATH"]])}
