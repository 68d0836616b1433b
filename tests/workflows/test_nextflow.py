"""The scripts of workflows/nextflow, executed without Nextflow: each process in a folder with its inputs staged."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from .nextflow import FOLDER, MODULES, Process, process_of
from .support import ARGUMENTS, path_with_command, write_inputs

SHARDS = 2
PROCESSES = {process.name: process for process in map(process_of, MODULES)}
NAMES = ["WFACLI_PLAN", "WFACLI_SHARD", "WFACLI_MERGE"]


def execute(script: str, folder: Path, staged: list[Path]) -> None:
    """Execute a script in a new folder with links to its inputs."""
    folder.mkdir()
    for path in staged:
        (folder / path.name).symlink_to(path)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=path_with_command(), check=False)
    assert done.returncode == 0


def files(process: Process, output: str, folder: Path, values: dict[str, str]) -> list[Path]:
    """Return the files of an output of a process, of which there must be some."""
    found = sorted(path for pattern in process.output(output, values) for path in folder.glob(pattern))
    assert found, output
    return found


def run_all(kind: str, folder: Path, inputs: list[Path], values: dict[str, str]) -> Path:
    """Execute the blocks of all processes as the workflow does, and return the output."""
    plan_of, shard_of, merge_of = (PROCESSES[name] for name in NAMES)
    execute(plan_of.rendered(kind, values), folder / "plan", inputs)
    (plan,) = files(plan_of, "plan", folder / "plan", values)
    values = {**values, "plan": plan.name}
    parts: list[Path] = []
    for shard in range(1, SHARDS + 1):
        here, task = folder / f"shard{shard}", {**values, "shard": str(shard)}
        if shard > 1:
            task["task.accelerator"] = "1"  # auto works without a GPU, too
        execute(shard_of.rendered(kind, task), here, [plan, *inputs])
        parts += files(shard_of, "parts", here, values)
    stage = folder / "stage/parts"  # stageAs: 'parts/*'
    stage.mkdir(parents=True)
    for part in parts:
        (stage / part.name).symlink_to(part)
    execute(merge_of.rendered(kind, values), folder / "merge", [plan, *inputs, stage])
    (output,) = files(merge_of, "output", folder / "merge", values)
    return output


def test_the_bytes_of_one_machine(tmp_path):
    expected = write_inputs(tmp_path)
    inputs = [tmp_path / name for name in ("reads.fq", "ref.fa", "map.paf")]
    values = {"command": "align", "arguments": " ".join(ARGUMENTS), "suffix": "bam", "shards": str(SHARDS)}
    values |= {"task.cpus": "1", "meta.id": "out"}
    assert run_all("script", tmp_path, inputs, values).read_bytes() == expected


def test_stubs_make_the_outputs(tmp_path):
    assert run_all("stub", tmp_path, [], {"meta.id": "out", "suffix": "bam", "shards": str(SHARDS)}).name == "out.bam"


def test_shards_have_the_label_of_gpus():
    shard = PROCESSES["WFACLI_SHARD"]
    values = {"command": "align", "plan": "p", "shard": "1", "shards": "2", "task.cpus": "8"}
    assert "process_gpu" in shard.labels
    assert "--engine cpu --threads 8" in shard.rendered("script", values)
    assert "--engine auto" in shard.rendered("script", {**values, "task.accelerator": "1"})
    assert "--check" in shard.rendered("script", {**values, "task.ext.args": "--check"})


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_modules_have_the_form_of_nf_core(module):
    process = process_of(module)
    assert process.name == f"WFACLI_{module.name.upper()}"
    meta = yaml.safe_load((module / "meta.yml").read_text())
    assert meta["name"] == f"wfacli_{module.name}"
    described = [
        [next(iter(one)) for one in (entry if isinstance(entry, list) else [entry])] for entry in meta["input"]
    ]
    assert described == process.inputs
    assert set(meta["output"]) == set(process.outputs)
    for name, patterns in process.outputs.items():
        given = [key for key in (next(iter(one)) for one in meta["output"][name][0]) if name != "versions_wfacli"]
        assert given[1:] == patterns
    environment = yaml.safe_load((module / "environment.yml").read_text())
    assert {"pip": ["wfacli"]} in environment["dependencies"]
    test = (module / "tests/main.nf.test").read_text()
    assert f'process "{process.name}"' in test and test.count('test("') == 2 == 1 + test.count('options "-stub"')
    used = [int(number) for number in re.findall(r"input\[(\d)\]", test.split("when {")[1].split("then {")[0])]
    assert used == list(range(len(process.inputs)))
    assert test.count("{") == test.count("}")


def test_the_workflow_gives_each_process_its_inputs():
    text = (FOLDER / "main.nf").read_text()
    for name, process in PROCESSES.items():
        assert re.search(rf"include \{{ {name} +\}} from './modules/wfacli/{name.split('_')[1].lower()}/main'", text)
        call = re.search(rf"^    {name}\((.*)\)$", text, re.MULTILINE)
        assert call
        given = re.sub(r"\([^()]*\)", "", call[1]).split(",")
        assert len(given) == len(process.inputs), name
    used = set(re.findall(r"params\.(\w+)", text)) | {"results"}
    declared = re.search(r"params \{\n(.*?)\n\}", (FOLDER / "nextflow.config").read_text(), re.DOTALL)
    assert declared and used == set(re.findall(r"^    (\w+) +=", declared[1], re.MULTILINE))
    labels = {label for process in PROCESSES.values() for label in process.labels}
    assert labels == set(re.findall(r"withLabel: (\w+)", (FOLDER / "nextflow.config").read_text()))
