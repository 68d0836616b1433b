"""Containers and recipes in packaging/: each is parsed and linted, and its commands are run outside of a container."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

import wfacli
from tests.docs.pages import ROOT
from tests.docs.served import MAPPER

PACKAGING = ROOT / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
COMPILERS = ("g++", "gcc", "build-essential", "clang", "cmake", "nvidia", "cuda-nvcc", "devel", "make")
CONDA_NAMES = {"isal": "python-isal", "deflate": "python-deflate"}  # where they differ from PyPI's
VALUES = {
    "VERSION": wfacli.__version__, "SHA256": "0" * 64, "URL": "https://example.org/wfacli.tar.gz",
    "HOME": "https://example.org", "MAINTAINER": "somebody",
}  # fmt: skip


@pytest.fixture
def shell(tmp_path: Path) -> Any:
    """Run a script in an empty folder, where wfacli, minimap2 and samtools' data are found; return what it prints."""
    (tmp_path / "bin").mkdir()
    if shutil.which("minimap2") is None:
        (tmp_path / "bin" / "minimap2").write_text(MAPPER)
        (tmp_path / "bin" / "minimap2").chmod(0o755)
    path = os.pathsep.join([str(Path(sys.executable).parent), str(tmp_path / "bin"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "CUDA_VISIBLE_DEVICES": "", "WFACLI_CACHE_DIR": str(tmp_path / "cache")}

    def run(script: str, **variables: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env=environment | variables, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{script}\n{done.stdout}"
        return done.stdout

    return run


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    """All recipes, filled in by the command that a release uses."""
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / f"wfacli-{wfacli.__version__}.tar.gz").write_bytes(b"the sources")
    options = ["--home", VALUES["HOME"], "--url", VALUES["URL"], "--maintainer", "somebody", "--dist", dist]
    command = [sys.executable, PACKAGING / "recipes.py", *options, "--into", tmp_path / "recipes"]
    subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL)
    return tmp_path / "recipes"


def instructions(text: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile, and their arguments with continued lines joined."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in whole.splitlines() if line.strip()]


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.gpu"])
def test_the_image_has_no_compiler_and_what_it_runs_works(name: str, shell: Any) -> None:
    parsed = instructions((PACKAGING / name).read_text())
    stages = [at for at, (word, _) in enumerate(parsed) if word == "FROM"]
    assert len(stages) == 2 and parsed[stages[0]][1].endswith(" AS build")
    final = parsed[stages[1] :]
    for word, rest in final:
        assert word not in ("FROM", "RUN") or not set(re.findall(r"[\w+-]+", rest)) & set(COMPILERS), rest
    assert ("COPY", ". /src") in parsed and ("ENTRYPOINT", '["wfacli"]') in final
    own = [rest for word, rest in final if word == "RUN" and rest.startswith("wfacli")]
    assert own
    for command in own:
        assert f"wfacli {wfacli.__version__}" in shell(command)


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.gpu"])
def test_hadolint_accepts_it(name: str) -> None:
    program = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    if program is None:
        pytest.skip("there is no hadolint")
    done = subprocess.run([program, "--no-color", PACKAGING / name], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_the_docker_builds_need_is_sent_to_them() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", "build", "dist"} <= set(ignored)
    for needed in (
        "wfacli",
        "cuda",
        "CMakeLists.txt",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "packaging",
        "Makefile",
    ):
        assert (ROOT / needed).exists() and needed not in ignored


def test_the_apptainer_definition(shell: Any) -> None:
    text = (PACKAGING / "wfacli.def").read_text()
    sections = dict(re.findall(r"^%(\w+)\n((?:(?!%).*\n)*)", text, re.MULTILINE))
    assert {"files", "post", "environment", "runscript", "test", "labels", "help"} == set(sections)
    assert re.search(r"^Bootstrap: docker\nFrom: python:3\.\d+-slim$", text, re.MULTILINE)
    assert not set(re.findall(r"[\w+-]+", sections["post"])) & set(COMPILERS)
    assert shell(sections["test"]).rstrip().endswith("2")
    assert wfacli.__version__ in shell(f"set -- --version\n{sections['runscript']}")


def conda_names(requirements: list[str]) -> dict[str, str]:
    """Return the version bounds of requirements by conda's name."""
    found = [Requirement(text) for text in requirements]
    return {CONDA_NAMES.get(one.name, one.name): ",".join(sorted(str(one.specifier).split(","))) for one in found}


def test_bioconda(recipes: Path, shell: Any) -> None:
    text = (recipes / "bioconda" / "meta.yaml").read_text()
    assert f'{{% set version = "{wfacli.__version__}" %}}' in text
    assert re.search(r"sha256: [0-9a-f]{64}$", text, re.MULTILINE) and "@" not in text
    plain = re.sub(
        r"\{\{ *(?:(\w+)|compiler\(\"(\w+)\"\)|pin_subpackage\(.*?\)) *\}\}", r"\1\2", re.sub(r"\{%.*%\}", "", text)
    )
    recipe = yaml.safe_load(plain)
    run = [re.sub(r"^(\S+) ", r"\1", one) for one in recipe["requirements"]["run"]]
    conda = {re.match(r"[\w.-]+", one)[0]: ",".join(sorted(re.sub(r"^[\w.-]+", "", one).split(","))) for one in run}  # type: ignore[index]
    assert {name: conda.get(name) for name in conda_names(PROJECT["dependencies"])} == conda_names(
        PROJECT["dependencies"]
    )
    assert set(conda) - set(conda_names(PROJECT["dependencies"])) == {"python", "minimap2"}
    for path in recipe["about"]["license_file"]:
        assert (ROOT / path).exists()
    assert recipe["extra"]["additional-platforms"] == ["linux-aarch64"] and "run_exports" in recipe["build"]
    shell("\n".join(recipe["test"]["commands"]))
    build = (recipes / "bioconda" / "build.sh").read_text()
    assert shell(build, PYTHON="echo").startswith("-m pip install . --no-deps --no-build-isolation")


def test_galaxy(recipes: Path, shell: Any, tmp_path: Path) -> None:
    tool = ElementTree.parse(recipes / "galaxy" / "wfacli_map.xml").getroot()
    assert tool.get("version") == f"{wfacli.__version__}+galaxy0" and tool.get("profile")
    for part in ("description", "requirements", "command", "inputs", "outputs", "tests", "help", "citations"):
        assert len(tool.findall(part)) == 1, part
    shutil.copytree(ROOT / "data", tmp_path / "data", ignore=shutil.ignore_patterns("*.png", "*.py"))
    inputs = {param.get("name"): param for param in tool.iterfind("inputs/param")}
    outputs = [data.get("name") for data in tool.iterfind("outputs/data")]
    for test in tool.iterfind("tests/test"):
        given = {param.get("name"): param.get("value") for param in test.iterfind("param")}
        assert set(given) <= set(inputs) and given["preset"] in [
            o.get("value") for o in inputs["preset"].iter("option")
        ]
        files = {name: f"data/{value}" for name, value in given.items() if inputs[name].get("type") == "data"}
        values = given | files | {name: f"out.{name}" for name in outputs}
        template = (tool.findtext("command") or "").replace("\\$", "$$")
        shell(Template(template).substitute(values).strip().replace("\n", " "), GALAXY_SLOTS="1")
        for output in test.iterfind("output"):
            content = (tmp_path / f"out.{output.get('name')}").read_bytes()
            assert all(len(content) >= int(size.get("min", "0")) for size in output.iter("has_size"))
            assert all(text.get("text", "-").encode() in content for text in output.iter("has_text"))


def test_conda_forge(recipes: Path) -> None:
    recipe = yaml.safe_load((recipes / "conda-forge" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == wfacli.__version__
    assert recipe["build"]["noarch"] == "python" and "wfacli ==${{ version }}" in recipe["requirements"]["run"]
    script = (recipes / "conda-forge" / "build.sh").read_text()
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml")) if (ROOT / ".github").exists() else []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows(path: Path) -> None:
    program = shutil.which("check-jsonschema", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("there is no check-jsonschema")
    command = [program, "--builtin-schema", "vendor.github-workflows", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    for job in yaml.safe_load(path.read_text())["jobs"].values():
        assert job["timeout-minutes"], "a job that hangs would run for six hours"
        for step in job["steps"]:
            if "run" in step:
                subprocess.run(["bash", "-n"], input=re.sub(r"\$\{\{.*?\}\}", "x", step["run"]), text=True, check=True)


def test_yaml_is_tidy(recipes: Path) -> None:
    files = [*WORKFLOWS, recipes / "conda-forge" / "recipe.yaml"]
    rules = "{extends: relaxed, rules: {line-length: {max: 130}, braces: {max-spaces-inside: 0}}}"
    command = [sys.executable, "-m", "yamllint", "--strict", "-d", rules, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
