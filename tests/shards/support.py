"""Random inputs, and runs of plan, shards and merge beside the run of one machine."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from tests.cli.support import Result, assert_success, bgzf, run

Environment = dict[str, str] | None


def sequences(rng: random.Random, count: int, longest: int = 150) -> list[tuple[str, str]]:
    """Return pairs of similar sequences, a few of which are empty or much longer than the others."""
    pairs = []
    for _ in range(count):
        length = rng.choice((0, 1, 5 * longest)) if rng.random() < 0.05 else rng.randrange(1, longest)
        query = "".join(rng.choices("ACGT", k=length))
        at = rng.randrange(length + 1)
        pairs.append((query, query[:at] + rng.choice("ACGTN") + query[at + rng.randrange(3) :]))
    return pairs


def text_of(rng: random.Random, records: list[str], mark: str, fastq: bool) -> bytes:
    """Return FASTQ, or FASTA in lines of random lengths, with line ends of both kinds and empty lines."""
    end = rng.choice(("\n", "\r\n"))
    lines = []
    for number, symbols in enumerate(records, 1):
        name = f"{mark}{number}" + rng.choice(("", " described", "\ttabs here"))
        if fastq:
            lines += [f"@{name}", symbols, "+", "".join(rng.choices("!5I@>~", k=len(symbols)))]
            continue
        lines.append(f">{name}")
        width = rng.choice((30, 1000))
        lines += [symbols[at : at + width] for at in range(0, len(symbols), width)]
        lines += [""] * (rng.random() < 0.1)
    return (end.join(lines) + end * (rng.random() < 0.8)).encode()


def stored(rng: random.Random, path: Path, data: bytes) -> Path:
    """Write data as it is, or as BGZF with blocks of a random size; return the path."""
    if rng.random() < 0.5:
        path.write_bytes(data)
        return path
    path = path.with_name(path.name + ".gz")
    path.write_bytes(bgzf(data, rng.choice((40, 700, 4096, 60_000))))
    return path


def write_pairs(rng: random.Random, folder: Path, count: int, layout: str = "two") -> list[str]:
    """Write random pairs; return the arguments that name the files."""
    pairs = sequences(rng, count)
    if layout == "two":
        query = text_of(rng, [q for q, _ in pairs], "q", rng.random() < 0.5)
        # Half of the targets are called alike, so that SAM's header has some names once.
        target = text_of(rng, [t for _, t in pairs], "t", False)
        return [stored(rng, folder / "q.fx", query).name, stored(rng, folder / "t.fx", target).name]
    if layout == "seq":
        data = "".join(f">{q}\n<{t}\n" + "\n" * (rng.random() < 0.1) for q, t in pairs).encode()
        return [stored(rng, folder / "pairs.seq", data).name]
    named = layout == "names"
    lines = [("name\t" if named else "") + "query\ttarget"] * (rng.random() < 0.5) + ["# a comment"]
    lines += [(f"n{i}\t" if named else "") + f"{q}\t{t}" for i, (q, t) in enumerate(pairs)]
    return [stored(rng, folder / "pairs.tsv", "".join(f"{line}\n" for line in lines).encode()).name]


def plan(folder: Path, *arguments: str, shards: int, name: str = "run.plan", env: Environment = None) -> Result:
    """Make a plan that must succeed."""
    done = run("plan", *arguments, "--shards", str(shards), "-o", name, cwd=folder, env=env)
    assert done.code == 0, done.err  # messages may have --on-error
    return done


def run_shards(
    folder: Path, command: str, numbers: Iterable[int], shards: int, *more: str, env: Environment = None
) -> None:
    """Run some shards of run.plan, which must succeed."""
    for number in numbers:
        done = run(command, "--plan", "run.plan", "--shard", f"{number}/{shards}", "-q", *more, cwd=folder, env=env)
        assert_success(done)


def shuffled(rng: random.Random, shards: int) -> list[int]:
    """Return the numbers of all shards in random order."""
    numbers = list(range(1, shards + 1))
    rng.shuffle(numbers)
    return numbers


def in_shards(
    rng: random.Random, folder: Path, command: str, arguments: list[str], shards: int, env: Environment = None
) -> bytes:
    """Plan a run, run its shards in random order with random numbers of threads, merge, and return the output."""
    plan(folder, command, *arguments, shards=shards, env=env)
    for number in shuffled(rng, shards):
        run_shards(folder, command, [number], shards, "-t", str(rng.randrange(1, 4)), env=env)
    merged = run("merge", "run.plan", "-o", "merged", cwd=folder, env=env)
    assert_success(merged)
    return (folder / "merged").read_bytes()


def on_one_machine(folder: Path, command: str, arguments: list[str], env: Environment = None) -> bytes:
    """Return what the run writes to standard output."""
    done = run(command, *arguments, cwd=folder, env=env)
    assert done.code == 0, done.err
    return done.out
