"""Catalogue rows of test kernels, and named GPU memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wfacli.gpu.kernels.catalogue import Row
from wfacli.gpu.runtime import task

BLOCK = 64
_KERNELS = Path(__file__).parent / "kernels"
PROBE = Row("probe", str(_KERNELS / "probes.cu"), "probe", (), BLOCK)
_PROBES = ("barrier", "shuffle", "up", "down", "xor", "votes", "reductions", "half_warps", "atomics", "dynamic")
PROBES = {name: number for number, name in enumerate((*_PROBES, "dpx", "bits"))}
DEFECTS = {name: 20 + number for number, name in enumerate(["lost", "mixed", "left_out", "beyond", "misaligned"])}
OUTPUTS = ("cost", "op_count", "ops", "work_counter")


def arguments(**fields) -> np.ndarray:
    made = np.zeros(1, task.ALIGN_TASK)
    for name, value in fields.items():
        made[name] = value
    return made


def launch(driver, row: Row, rows: np.ndarray, grid: int, outputs: int, shared_bytes: int = 0, **fields):
    """Run a kernel on `rows`; return `cost` (`outputs` items), `op_count`, `ops` and `next`, which are initially 0."""
    stream = driver.stream()
    sizes = {"rows": rows.size, "cost": outputs, "op_count": 4, "ops": 4, "work_counter": 4}
    memory = {name: driver.allocate(4 * size) for name, size in sizes.items()}
    sent = driver.pinned(rows.nbytes)
    sent.view(rows.dtype)[:] = rows.ravel()
    driver.upload(memory["rows"].address, sent, stream)
    for name in OUTPUTS:
        driver.fill(memory[name].address, 0, memory[name].nbytes, stream)
    addresses = {name: piece.address for name, piece in memory.items()}
    driver.launch(driver.kernel(row), grid, arguments(**addresses, **fields), stream, shared_bytes)
    received = {name: driver.pinned(memory[name].nbytes) for name in OUTPUTS}
    for name, array in received.items():
        driver.download(array, memory[name].address, stream)
    driver.wait(driver.record(stream))
    answers = {name: array.view(np.int32).copy() for name, array in received.items()}
    for piece in memory.values():
        driver.free(piece)
    for array in (sent, *received.values()):
        driver.unpin(array)
    return answers


def run_probe(driver, name: str, rows: np.ndarray, outputs: int = 0, shared_bytes: int = 0, **fields):
    threads = fields.setdefault("count", rows.size)
    number = (PROBES | DEFECTS)[name]
    return launch(driver, PROBE, rows, threads // BLOCK, outputs or rows.size, shared_bytes, path=number, **fields)
