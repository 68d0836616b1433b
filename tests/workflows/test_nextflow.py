"""The scripts of workflows/nextflow, executed without Nextflow: each process in a folder with its inputs staged."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from .support import ARGUMENTS, ROOT, path_with_command, write_inputs

SHARDS = 2
TEXT = (ROOT / "nextflow/main.nf").read_text()


def scripts(kind: str) -> dict[str, str]:
    """Return the blocks `script:` or `stub:` of all processes, by name."""
    found = {}
    for name, body in re.findall(r"^process (\w+) \{\n(.*?)^\}", TEXT, re.DOTALL | re.MULTILINE):
        block = re.search(rf'^    {kind}:\n    """\n(.*?)    """', body, re.DOTALL | re.MULTILINE)
        assert block, name
        found[name] = block[1]
    return found


def execute(script: str, folder: Path, staged: list[Path], values: dict[str, str]) -> None:
    """Execute a script in a new folder with links to its inputs, and values in place of its variables."""
    folder.mkdir()
    for path in staged:
        link = folder / path.name
        link.symlink_to(path)
    text = re.sub(r"\$\{([\w.]+)\}", lambda match: values[match[1]], script)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=path_with_command(), check=False)
    assert done.returncode == 0


def test_the_bytes_of_one_machine(tmp_path):
    expected = write_inputs(tmp_path)
    inputs = [tmp_path / name for name in ("reads.fq", "ref.fa", "map.paf")]
    values = {"command": "align", "arguments": " ".join(ARGUMENTS), "output": "out.bam", "shards": str(SHARDS)}
    values |= {"task.cpus": "1", "plan": "run.plan"}
    made = scripts("script")
    execute(made["WFACLI_PLAN"], tmp_path / "plan", inputs, values)
    plan = tmp_path / "plan/run.plan"
    parts: list[Path] = []
    for shard in range(1, SHARDS + 1):
        folder = tmp_path / f"shard{shard}"
        execute(made["WFACLI_SHARD"], folder, [plan, *inputs], {**values, "shard": str(shard)})
        parts += sorted((folder / "run.plan.parts").iterdir())
    stage = tmp_path / "stage/run.plan.parts"  # stageAs: 'run.plan.parts/*'
    stage.mkdir(parents=True)
    for part in parts:
        (stage / part.name).symlink_to(part)
    execute(made["WFACLI_MERGE"], tmp_path / "merge", [plan, *inputs, stage], values)
    assert (tmp_path / "merge/out.bam").read_bytes() == expected


def test_stubs_make_the_outputs(tmp_path):
    stubs = scripts("stub")
    values = {"shard": "1", "output": "out.bam"}
    for number, (name, output) in enumerate(
        {"WFACLI_PLAN": "run.plan", "WFACLI_SHARD": "run.plan.parts/1", "WFACLI_MERGE": "out.bam"}.items()
    ):
        execute(stubs[name], tmp_path / str(number), [], values)
        assert (tmp_path / str(number) / output).exists()


def test_parameters_that_are_used_are_declared():
    used = set(re.findall(r"params\.(\w+)", TEXT))
    declared = set(re.findall(r"^params\.(\w+) = ", TEXT, re.MULTILINE))
    assert used == declared
