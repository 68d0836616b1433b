"""BGZF blocks depend on their data and level only, so that all runs of a command write the same bytes."""

import gzip
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from wfacli.io.write.bgzf import END, compressed


def records(rng: random.Random) -> bytes:
    """Return one to four lines of PAF."""
    lines = []
    for _ in range(rng.randrange(1, 5)):
        name, length, at = rng.randrange(1000), rng.randrange(10, 1000), rng.randrange(10)
        cigar = "".join(f"{rng.randrange(1, 300)}{rng.choice('=XID')}" for _ in range(rng.randrange(1, 12)))
        lines.append(f"q{name}\t{length}\t{at}\t{length}\t+\tt{name}\t{length}\t{at}\t{length}\t255\tcg:Z:{cigar}\n")
    return "".join(lines).encode()


@pytest.mark.parametrize("level", [0, 1, 2, 6, 9])
def test_threads_do_not_change_bytes(level: int) -> None:
    rng = random.Random(level)
    inputs = [records(rng) for _ in range(4000)]
    expected = [compressed(data, level) for data in inputs]
    assert [gzip.decompress(b"".join(blocks) + END) for blocks in expected] == inputs
    for _ in range(4):  # threads with stacks and heaps of their own
        with ThreadPoolExecutor(3) as pool:
            found = list(pool.map(lambda data: compressed(data, level), inputs))
        assert sum(a != b for a, b in zip(found, expected, strict=True)) == 0
