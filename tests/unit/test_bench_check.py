"""bench/checks/check.py: what it reads out of callgrind's dumps and of machine code, and when it fails."""

import json
import shutil
import struct
from pathlib import Path

import pytest

from bench.checks import check
from tests.thorough import THOROUGH
from wfacli.gpu.kernels.catalogue import ROWS

DUMP = """\
# callgrind format
desc: Trigger: Client Request: kernel bits-64
positions: line
events: Ir

ob=(1) /usr/lib/libc.so.6
fn=(1) memcpy
0 50

ob=(2) /env/wfacli/_native.cpython-311-x86_64-linux-gnu.so
fn=(2) 0x1234
0 1000
+3 200
cob=(1)
cfn=(1)
calls=2 0
0 50
* 30

ob=(3) /usr/lib/libpython3.11.so
fn=(3) call
0 7
cob=(2)
cfn=(2)
calls=1 0
0 1280

ob=(2)
fn=(4) 0x99
-2 4
"""


def test_only_a_modules_own_instructions_count():
    assert check.counted(DUMP, "_native") == ("kernel bits-64", 1234)
    assert check.counted(DUMP, "libc") == ("kernel bits-64", 50)


def elf(sections):
    """Return an ELF file with these code sections and a section of names."""
    names, offsets = b"\0", []
    for name in [*sections, ".shstrtab"]:
        offsets.append(len(names))
        names += name.encode() + b"\0"
    contents, places, at = [*sections.values(), names], [], 64
    for content in contents:
        places.append((at, len(content)))
        at += len(content)
    headers = [bytes(64)] + [
        struct.pack("<II4QII2Q", name, 1, 0, 0, *place, 0, 0, 0, 0)
        for name, place in zip(offsets, places, strict=True)
    ]
    start = b"\x7fELF\x02\x01".ljust(40, b"\0") + struct.pack("<Q", at) + bytes(10)
    start += struct.pack("<HHH", 64, len(headers), len(headers) - 1)
    return start + b"".join(contents) + b"".join(headers)


def code(*operations):
    return b"".join(struct.pack("<H14x", one) for one in operations)


def test_instructions_of_a_kernel_and_of_what_it_calls():
    nop, other = 0x7918, 0x7947
    image = elf({
        ".text.mine": code(other, nop, other, nop, nop),  # trailing padding does not count
        ".text.called": code(other, other),
        ".text.another": code(*[other] * 50),
        ".nv.constant0.mine": b"",
        ".nv.constant0.another": b"",
        ".data": bytes(64),
    })  # fmt: skip
    assert check.instructions(image, "mine") == 3 + 2
    assert check.instructions(image, "another") == 50 + 2
    with pytest.raises(ValueError, match="ELF"):
        check.instructions(b"\x7fELF\x01\x01" + bytes(80), "mine")


def test_rises_are_told_from_falls_and_small_ones():
    old = {"a": 100, "b": 100, "c": 100, "d": 0, "gone": 1}
    new = {"a": 106, "b": 105, "c": 50, "d": 8, "fresh": 9}
    assert check.rises(old, new, 0.05) == [("d", 0, 8), ("a", 100, 106)]
    lines = check.table(old, new, 0.05)
    assert [line.split()[0] for line in lines if "ROSE" in line] == ["a", "d"]
    assert len(lines) == 6 and "+6.00%" in lines[0] and "-50.00%" in lines[2] and "gone" in lines[5]
    assert check.table(old, old, 0.05) == []


@pytest.fixture
def counts(monkeypatch):
    """Replace the counters; tests change the returned counts."""
    found = {"native": {"work": 1000}, "kernels": {"row, registers": 40}}
    monkeypatch.setattr(check, "native_counts", lambda: dict(found["native"]))
    monkeypatch.setattr(check, "native_compiler", lambda: "gcc 12")
    monkeypatch.setattr(check, "kernel_counts", lambda rows, compiler: dict(found["kernels"]))
    monkeypatch.setattr(check, "find_nvcc", lambda: Path("nvcc"))
    monkeypatch.setattr(check, "nvcc_version", lambda nvcc: "13")
    return found


def checked(tmp_path, capsys, *options):
    code = check.main(["--baseline", str(tmp_path / "baseline.json"), *options])
    shown = capsys.readouterr()
    return code, shown.out + shown.err


def test_a_rise_fails_and_is_named(counts, tmp_path, capsys):
    assert checked(tmp_path, capsys, "--update")[0] == 0
    assert checked(tmp_path, capsys)[0] == 0
    counts["kernels"]["row, registers"] = 44
    code, text = checked(tmp_path, capsys)
    assert code == 1 and "row, registers" in text and "+10.00%  ROSE" in text and "native: 1 counts hold" in text
    assert checked(tmp_path, capsys, "--threshold", "0.2")[0] == 0
    assert checked(tmp_path, capsys, "--only", "native")[0] == 0
    counts["native"]["work"] = 1051
    code, text = checked(tmp_path, capsys, "--only", "native")
    assert code == 1 and "+5.10%  ROSE" in text


def test_an_update_leaves_other_compilers_baselines(counts, tmp_path, capsys, monkeypatch):
    checked(tmp_path, capsys, "--update")
    monkeypatch.setattr(check, "native_compiler", lambda: "clang 18")
    counts["native"]["work"] = 9000
    code, text = checked(tmp_path, capsys)
    assert code == 0 and "no baseline by clang 18 (there is: gcc 12)" in text
    checked(tmp_path, capsys, "--update", "--only", "native")
    kept = json.loads((tmp_path / "baseline.json").read_text())
    assert (
        kept["native"]["gcc 12"]["counts"] == {"work": 1000} and kept["native"]["clang 18"]["counts"]["work"] == 9000
    )
    assert kept["kernels"]["nvcc 13, sm_90"]["counts"] == {"row, registers": 40}


def test_missing_tools_are_said(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(check, "find_nvcc", lambda: None)
    code, text = checked(tmp_path, capsys)
    assert code == 0 and "native: skipped: valgrind" in text and "kernels: skipped: no nvcc" in text


def test_every_function_of_the_catalogue_is_counted():
    chosen = check.one_of_each(ROWS.values())
    assert {(row.source, row.entry) for row in chosen} == {(row.source, row.entry) for row in ROWS.values()}
    assert len(chosen) < len(ROWS) / 3


@pytest.mark.skipif(not (THOROUGH and shutil.which("valgrind")), reason="in make fuzz, with valgrind")
def test_counts_are_the_same_each_time():
    one, two = (check.native_counts(only=["estimate", "kernel bits-64"]) for _ in range(2))
    assert one == two and set(one) == {"estimate", "kernel bits-64"} and min(one.values()) > 100_000
