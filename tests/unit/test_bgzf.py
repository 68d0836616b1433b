"""BGZF blocks depend on their data and level only, so that all runs of a command write the same bytes."""

import gzip
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from wfacli.io.write.bgzf import BLOCK_BYTES, END, compressed, one_by_one


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
    expected = [bytes(one_by_one(data, level).data) for data in inputs]
    assert [gzip.decompress(blocks + END) for blocks in expected] == inputs
    for _ in range(4):  # threads with stacks and heaps of their own
        with ThreadPoolExecutor(3) as pool:
            found = list(pool.map(lambda data: bytes(compressed(data, level).data), inputs))
        assert sum(a != b for a, b in zip(found, expected, strict=True)) == 0


@pytest.mark.parametrize("level", [0, 1, 6, 9])
@pytest.mark.parametrize("size", [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 5 * BLOCK_BYTES])
@pytest.mark.parametrize("symbols", [1, 4, 256])
def test_all_blocks_at_once_are_those_one_by_one(level: int, size: int, symbols: int) -> None:
    """Also of data that cannot be compressed."""
    data = bytes(random.Random(size).choices(range(symbols), k=size))
    at_once, expected = compressed(data, level), one_by_one(data, level)
    assert bytes(at_once.data) == bytes(expected.data)
    assert at_once.sizes.tolist() == expected.sizes.tolist()
    assert gzip.decompress(bytes(at_once.data) + END) == data
