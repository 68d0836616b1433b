"""The parts of `make wheels` and of the check of an installation, without building a wheel."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import wfacli
from tests.docs.pages import ROOT

from . import installed
from .scripts import load

wheels, stubs = load("wheels"), load("glibc/stubs")

LISTING = """
Symbol table '.dynsym' contains 3150 entries:
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     6: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __tls_get_addr@GLIBC_2.3 (41)
   456: 0000000000039270    57 FUNC    GLOBAL DEFAULT   17 log@@GLIBC_2.29
   457: 0000000000013040   114 FUNC    GLOBAL DEFAULT   17 log@GLIBC_2.2.5
   669: 00000000000f77e0    18 FUNC    WEAK   DEFAULT   16 stat@@GLIBC_2.33
   876: 0000000000000010     4 TLS     GLOBAL DEFAULT   24 errno@@GLIBC_PRIVATE
   290: 00000000001db320     8 OBJECT  WEAK   DEFAULT   34 environ@@GLIBC_2.2.5
  2725: 00000000000a2d70    40 FUNC    GLOBAL DEFAULT   16 memcpy@GLIBC_2.2.5
  2727: 000000000009be70   265 IFUNC   GLOBAL DEFAULT   16 memcpy@@GLIBC_2.14
"""
CODE = """
#include <cmath>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <sys/stat.h>
extern "C" double answer(const char* path) {
  struct stat there{};
  if (stat(path, &there)) return -1;
  double found = 0;
  std::mutex lock;
  std::thread other([&] { std::lock_guard held(lock); found = std::log(1.0) + std::pow(2.0, 5.0); });
  other.join();
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  try {
    throw std::runtime_error(line);
  } catch (const std::exception& problem) {
    return problem.what() == line && there.st_size > 0 ? found : -2;
  }
}
"""


def test_each_symbol_has_its_newest_version_up_to_the_limit() -> None:
    assert stubs.newest_up_to((2, 28), LISTING) == {
        "log": ((2, 2, 5), "function", 114),
        "environ": ((2, 2, 5), "object", 8),
        "memcpy": ((2, 14), "function", 265),
    }
    assert stubs.newest_up_to((2, 33), LISTING)["log"] == ((2, 29), "function", 57)


def test_what_is_linked_so_needs_nothing_newer_and_works(tmp_path: Path) -> None:
    compiler, readelf = shutil.which("g++"), shutil.which("readelf")
    if compiler is None or readelf is None:
        pytest.skip("there is no g++")
    place = subprocess.run([compiler, "-print-file-name=libc.so.6"], capture_output=True, text=True, check=True).stdout
    if not Path(place.strip()).is_absolute():
        pytest.skip("the compiler's C library is not glibc")
    (tmp_path / "code.cpp").write_text(CODE)
    stubs.write(compiler, (2, 28), tmp_path / "old")
    options = ["-std=c++20", "-O2", "-shared", "-fPIC", "-static-libstdc++", f"-L{tmp_path / 'old'}"]
    made = tmp_path / "code.so"
    subprocess.run([compiler, *options, "-Wl,--exclude-libs,ALL", tmp_path / "code.cpp", "-o", made], check=True)
    needs = subprocess.run([readelf, "--wide", "-V", "-d", made], capture_output=True, text=True, check=True).stdout
    versions = {wheels_version(one) for one in re.findall(r"GLIBC_([\d.]+)", needs)}
    assert versions and max(versions) <= (2, 28)
    assert "libstdc++" not in needs and "GLIBCXX" not in needs and str(tmp_path) not in needs
    library = ctypes.CDLL(str(made))
    library.answer.restype = ctypes.c_double
    assert library.answer(str(tmp_path / "code.cpp").encode()) == 32.0


def wheels_version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def test_auditwheel_s_verdict() -> None:
    said = 'w.whl is consistent with the\nfollowing platform tag: "manylinux_2_26_x86_64".\n\nThe wheel references'
    assert wheels.tag_of(said) == "manylinux_2_26_x86_64"
    with pytest.raises(wheels.Failed, match="fit for no policy"):
        wheels.tag_of('the following platform tag:\n"linux_x86_64".')


@pytest.mark.parametrize(("tag", "fits"), [("manylinux_2_28_x86_64", True), ("manylinux_2_36_x86_64", False)])
def test_a_wheel_for_a_newer_glibc_is_refused(monkeypatch, tmp_path, tag, fits) -> None:
    def run(command, environment=None):
        if "show" in command:
            return f'platform tag: "{tag}".'
        (tmp_path / f"wfacli-{tag}.whl").touch()
        return ""

    monkeypatch.setattr(wheels, "_run", run)
    if fits:
        assert wheels.audited(tmp_path / "w.whl", "2.28", tmp_path) == (tmp_path / f"wfacli-{tag}.whl", tag)
    else:
        with pytest.raises(wheels.Failed, match=r"needs manylinux_2_36_x86_64, newer than glibc 2\.28"):
            wheels.audited(tmp_path / "w.whl", "2.28", tmp_path)


def test_two_builds_are_compared_by_their_bytes(tmp_path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    for folder, content in ((first, b"a"), (second, b"b")):
        folder.mkdir()
        (folder / "wfacli-1.whl").write_bytes(b"same")
        (folder / "wfacli-2.whl").write_bytes(content)
    (first / "wfacli-1.tar.gz").touch()
    assert wheels.differing(first, second) == ["wfacli-1.tar.gz", "wfacli-2.whl"]


def test_the_time_of_a_build_is_that_of_the_commit(monkeypatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert re.fullmatch(r"\d{10}", wheels.environment()["SOURCE_DATE_EPOCH"])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert wheels.environment()["SOURCE_DATE_EPOCH"] == "1700000000"
    assert wheels.environment()["PIP_CONSTRAINT"] == str(ROOT / "packaging" / "constraints.txt")


def test_a_cross_build_says_so_to_all_tools() -> None:
    told = wheels.crossing("aarch64-linux-gnu-", sys.executable)
    version = f"{sys.version_info[0]}{sys.version_info[1]}"
    assert told["SETUPTOOLS_EXT_SUFFIX"] == f".cpython-{version}-aarch64-linux-gnu.so"
    assert told["CXX"] == "aarch64-linux-gnu-g++" and told["_PYTHON_HOST_PLATFORM"] == "linux-aarch64"
    assert "CMAKE_SYSTEM_PROCESSOR=aarch64" in told["CMAKE_ARGS"]


def test_versions_of_a_build_are_within_the_requirements() -> None:
    from packaging.requirements import Requirement

    required = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    pinned = dict(line.split("==") for line in wheels.CONSTRAINTS.read_text().splitlines() if "==" in line)
    for one in map(Requirement, required):
        assert one.specifier.contains(pinned[one.name])


def test_licences_of_what_the_module_contains_are_shipped() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    shipped = {path for pattern in project["license-files"] for path in ROOT.glob(pattern)}
    bill = (ROOT / "packaging" / "sbom.cdx.json.in").read_text()
    parts = json.loads(re.sub(r"@\w+@", "1", bill))["components"]
    for part in parts:
        # libstdc++'s exception lets any program contain it, without its licence.
        assert part["name"] == "libstdc++" or ROOT / "packaging" / "licenses" / f"{part['name']}.txt" in shipped
    try:
        own = next(file for file in metadata.files("nanobind") or [] if file.name == "LICENSE")
    except (metadata.PackageNotFoundError, StopIteration):
        return
    assert own.read_text() == (ROOT / "packaging" / "licenses" / "nanobind.txt").read_text()


def test_the_example_of_an_installation_is_readme_s(tmp_path) -> None:
    assert installed.version() == wfacli.__version__
    commands = [command for command, _ in installed.examples()]
    assert commands[0].startswith("wfacli map data/sarscov2.fa.gz") and len(commands) == 2
    (tmp_path / "bin").mkdir()
    installed.programs(tmp_path / "bin", Path("/usr/bin/python3"))
    assert installed.compilers(str(tmp_path / "bin")) == []
    assert all(shutil.which(name, path=str(tmp_path / "bin")) for name in ("samtools", "minimap2", "bash"))
    (tmp_path / "bin" / "g++").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "g++").chmod(0o755)
    assert installed.compilers(str(tmp_path / "bin")) == ["g++"]
