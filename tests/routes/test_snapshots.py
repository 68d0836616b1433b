"""Compare current decisions with the recorded ones."""

import gzip

from .snapshots import EXPECTED, lines, simulated, specifications


def test_every_route_is_as_recorded():
    wanted = gzip.decompress(EXPECTED.read_bytes()).decode().splitlines()
    found = list(lines(simulated(), list(specifications())))
    differing = [f"{was}\n{now}" for was, now in zip(wanted, found, strict=True) if was != now]
    assert not differing, f"{len(differing)} of {len(wanted)} differ, the first: {differing[0]}"
