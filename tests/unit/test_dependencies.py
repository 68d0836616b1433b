"""The requirements in pyproject.toml have upper bounds, and a CI job tests releases above them."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.newest import requirements, without_upper_bound

ROOT = Path(__file__).parents[2]
WEEKLY = ROOT / ".github" / "workflows" / "newest.yml"


def upper(requirement: Requirement) -> list[Version]:
    return [Version(bound.version) for bound in requirement.specifier if bound.operator in ("<", "<=", "==", "~=")]


@pytest.mark.parametrize("text", requirements())
def test_every_package_has_an_upper_bound_that_was_tried(text: str) -> None:
    requirement = Requirement(text)
    assert len(upper(requirement)) == 1, "a release with another interface would be installed"
    try:
        there = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return
    assert requirement.specifier.contains(there, prereleases=True), there


@pytest.mark.parametrize("name", ["numpy", "rich", "isal", "pysam"])
def test_what_has_broken_its_interface_before_is_among_them(name: str) -> None:
    assert name in {Requirement(text).name for text in requirements()}


def test_pysam_comes_with_the_package_and_its_old_extra_installs_nothing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "pysam" in {Requirement(text).name for text in project["dependencies"]}
    assert project["optional-dependencies"]["bam"] == []


def test_the_newest_are_tried_once_a_week() -> None:
    for text in requirements():
        free = Requirement(without_upper_bound(text))
        assert not upper(free) and free.name == Requirement(text).name
        assert str(free.marker) == str(Requirement(text).marker)
        assert free.specifier.contains("9999")
    workflow = WEEKLY.read_text()
    assert re.search(r'cron: "\d+ \d+ \* \* \d"', workflow) and "make test-newest" in workflow
    target = re.search(r"^test-newest:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert target and "tests/newest.py" in target[1] and "pytest" in target[1]
