"""The heap of a command asks for huge pages, unless the addresses of the process are limited."""

from __future__ import annotations

import platform
import resource
import subprocess
import sys
from pathlib import Path

import pytest

_FLAGS_OF_HEAP = """
from wfacli import _native
_native.keep_memory_flat()
found = held = None
for line in open("/proc/self/smaps"):
    if line.split()[-1] == "[heap]":
        found = True
    elif found and line.startswith("Rss:"):
        held = int(line.split()[1])
    elif found and line.startswith("VmFlags:"):
        print("hg" in line.split(), held)
        found = False
"""

pytestmark = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or not Path("/sys/kernel/mm/transparent_hugepage").is_dir(),
    reason="needs the C library and the kernel that have these settings",
)


def heap(limit: int | None = None) -> list[tuple[bool, int]]:
    """Return whether each mapping of the heap asks for huge pages, and its KiB that are in memory."""

    def limits() -> None:
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-c", _FLAGS_OF_HEAP], preexec_fn=limits, capture_output=True, text=True, check=True
    )
    return [(asks == "True", int(held)) for asks, held in map(str.split, done.stdout.splitlines())]


def test_the_heap_asks_for_huge_pages_and_takes_no_memory_for_them() -> None:
    mappings = heap()
    assert any(asks for asks, _ in mappings)
    assert sum(held for _, held in mappings) < 32 << 10


def test_a_limit_of_addresses_is_respected() -> None:
    assert not any(asks for asks, _ in heap(1 << 30))
