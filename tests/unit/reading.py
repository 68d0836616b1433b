"""Read files with the readers, and return plain tuples."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from wfacli.core.batch import PairBatch
from wfacli.errors import InputError
from wfacli.io.read.reader import PairFiles, layout_of, read_batches

AT_ONCE = 1 << 40


class Pair(NamedTuple):
    """A pair as read; the quality is None if the file has none."""

    q_name: str
    query: bytes
    quality: bytes | None
    t_name: str
    target: bytes


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError if the block takes longer, so that a reader that never ends does not block the tests."""

    def late(*_: object) -> None:
        raise TimeoutError(f"not done within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def pairs_in(batch: PairBatch) -> list[Pair]:
    """Return the pairs of a batch."""
    bases, text, records = batch.bases.tobytes(), batch.records.text.tobytes(), batch.records
    found = []
    for i in range(len(batch)):
        query = bases[batch.q_start[i] :][: batch.q_len[i]]
        target = bases[batch.t_start[i] :][: batch.t_len[i]]
        start = int(records.qual[i])
        quality = None if start < 0 else text[start : start + len(query)]
        found.append(Pair(records.query_name(i), query, quality, records.target_name(i), target))
    return found


def read_files(*paths: Path | str, weight: int = AT_ONCE, threads: int = 1) -> tuple[list[Pair], InputError | None]:
    """Read all pairs of one or two files; return them and the error that ended reading, if any."""
    pairs: list[Pair] = []
    files = PairFiles(str(paths[0]), str(paths[1]) if len(paths) == 2 else None)
    opened = files.open()
    try:
        with within(30):
            for ordinal, batch in enumerate(read_batches(opened, layout_of(opened), weight, threads=threads)):
                assert batch.ordinal == ordinal
                pairs += pairs_in(batch)
    except InputError as error:
        return pairs, error
    finally:
        for source in opened:
            source.close()
    return pairs, None


def read(folder: Path, *contents: bytes, weight: int = AT_ONCE) -> tuple[list[Pair], InputError | None]:
    """Write the contents to files and read them like read_files."""
    paths = [folder / name for name in ("query", "target")[: len(contents)]]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return read_files(*paths, weight=weight)
