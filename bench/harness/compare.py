"""Compare two results row by row: which rows became faster or slower, and which differ only by noise.

    python -m bench.harness.compare OLD.json NEW.json [--threshold 0.05] [--noise 0.1] [--all] [--peers]

Results are those of `wfacli bench --stats` and of the tables in bench/results. The best repeats are compared. The
noise of a row is the distance of the median of its repeats from the best one, summed over both results, and at least
1%; a row that was measured once has the noise --noise. A row is slower when it takes longer by more than its noise,
and a regression when it takes longer by more than --threshold as well.

Exit status: 0 without regressions, 1 with regressions, 2 when there is nothing to compare.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wfacli.measure.spread import Spread

LEAST_NOISE = 0.01  # clock resolution and memory placement, which repeats in one process do not show
OURS = "wfacli"
PEERS = (
    "wfa2",
    "edlib",
    "ksw2",
    "parasail",
    "quicked",
    "pywfa",
    "wfa-gpu",
    "ewfa-gpu",
    "gasal2",
    "masa",
    "minimap2",
    "sw_",
    "nw_",
)
# Labels that tell rows apart, in the order in which they are shown.
LABELS = ("row", "name", "set", "task", "metric", "scores", "mode", "cigars", "error", "model", "kind", "aligner")
MORE_LABELS = ("engine", "setting", "heuristic", "way", "algorithm", "threads", "penalties", "seed")
SIZES = ("pairs", "bases", "cells", "matrix_cells")  # of the work, which must be equal
CONTAINERS = ("rows", "cells", "timings", "measured", "runs", "ways")
WITHIN = ("steps", "samples", "counts", "left_out", "what_is_timed")  # parts of a row, not rows


@dataclass(frozen=True)
class Measured:
    """The seconds of one row, and the size of its work."""

    spread: Spread
    work: tuple[Any, ...]


@dataclass(frozen=True)
class Change:
    """The change of one row.

    Attributes:
        name: name of the row.
        old, new: best seconds.
        noise: share by which two results of the same program may differ.
    """

    name: str
    old: float
    new: float
    noise: float

    @property
    def ratio(self) -> float:
        """New seconds divided by old ones: above 1 the row is slower."""
        return self.new / self.old

    @property
    def verdict(self) -> str:
        """Verdict: "slower", "faster" or "within noise"."""
        if self.ratio > 1 + self.noise:
            return "slower"
        return "faster" if self.ratio * (1 + self.noise) < 1 else "within noise"

    def is_regression(self, threshold: float) -> bool:
        """Return whether the row is slower by more than its noise and by more than `threshold`, a share."""
        return self.verdict == "slower" and self.ratio > 1 + threshold


def measured(result: dict[str, Any]) -> dict[str, Measured]:
    """Return all rows of a result by their names."""
    found: dict[str, Measured] = {}
    sizes = result.get("workload", {}).get("rows", {}) if isinstance(result.get("workload"), dict) else {}
    for labels, work, seconds in _walk(result, (), {}):
        name = " · ".join(labels)
        copies = sum(1 for known in found if known == name or known.startswith(f"{name} #"))
        own = sizes.get(labels[0], {}) if labels else {}
        known_sizes = tuple(work.get(key, own.get(key)) for key in SIZES)
        found[f"{name} #{copies + 1}" if copies else name] = Measured(Spread(seconds), known_sizes)
    return found


def _walk(
    value: Any, labels: tuple[str, ...], work: dict[str, Any]
) -> Iterator[tuple[tuple[str, ...], dict[str, Any], list[float]]]:
    if isinstance(value, list):
        for item in value:
            yield from _walk(item, labels, work)
    if not isinstance(value, dict):
        return
    own = tuple(_label(key, value[key]) for key in (*LABELS, *MORE_LABELS) if _is_label(value.get(key)))
    # The name of the whole result is not part of a row's name.
    labels = labels if "what_is_timed" in value else labels + own
    work = {**work, **{key: value[key] for key in SIZES if isinstance(value.get(key), int | float)}}
    seconds = value.get("all_seconds") or value.get("best_seconds") or value.get("seconds")
    if isinstance(seconds, list | float | int) and seconds:
        yield labels, work, seconds if isinstance(seconds, list) else [float(seconds)]
    for key, inner in value.items():
        if key not in WITHIN and isinstance(inner, dict | list):
            deeper = labels if key in CONTAINERS else (*labels, OURS if key == "ours" else key)
            yield from _walk(inner, deeper, work)


def _is_label(value: Any) -> bool:
    return value is not None and value != "" and isinstance(value, str | int | float)


def _label(key: str, value: Any) -> str:
    return f"{key} {value}" if isinstance(value, int | float) else value


def is_peer(name: str) -> bool:
    """Return whether a row is a peer's, which shows how alike the machines are and is never a regression."""
    return any(part.startswith(PEERS) for part in name.split(" · "))


def compared(
    old: dict[str, Measured], new: dict[str, Measured], usual_noise: float
) -> tuple[list[Change], dict[str, str]]:
    """Return the rows that both results have, in the order of the new one, and why other rows are not compared."""
    changes, left_out = [], {name: "only in OLD" for name in old if name not in new}
    for name, now in new.items():
        before = old.get(name)
        if before is None:
            left_out[name] = "only in NEW"
        elif before.work != now.work:
            left_out[name] = f"other work: {_size(before)}, then {_size(now)}"
        else:
            changes.append(Change(name, before.spread.best, now.spread.best, noise_of(before, now, usual_noise)))
    return changes, left_out


def noise_of(old: Measured, new: Measured, usual: float) -> float:
    """Return the noise of a ratio of two best repeats: the sum of the noise of both."""
    of_each = [one.spread.noise for one in (old, new)]
    return max(LEAST_NOISE, sum(usual if noise is None else noise for noise in of_each))


def _size(one: Measured) -> str:
    return ", ".join(f"{value:,} {key}" for key, value in zip(SIZES, one.work, strict=True) if value) or "unknown"


def table(changes: list[Change], threshold: float) -> list[str]:
    """Return a line for each row, the worst first."""
    lines = [("new / old", "noise", "old", "new", "", "row")]
    for change in sorted(changes, key=lambda c: -c.ratio):
        verdict = "REGRESSION" if change.is_regression(threshold) else change.verdict
        noise = f"±{change.noise:.1%}"
        lines.append((f"{change.ratio:.3f}", noise, _ms(change.old), _ms(change.new), verdict, change.name))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(_aligned(line, widths)).rstrip() for line in lines]


def _aligned(line: tuple[str, ...], widths: list[int]) -> list[str]:
    """Align numbers to the right and words to the left."""
    places = zip(line, widths, strict=True)
    return [text.rjust(width) if number < 4 else text.ljust(width) for number, (text, width) in enumerate(places)]


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.4g} ms"


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return other differences of the results that may explain changes."""
    found = []
    for title, key in (("processor", "cpu"), ("cores", "cores"), ("instruction set", "instruction_set")):
        was, now = old.get("machine", {}).get(key), new.get("machine", {}).get(key)
        if was is not None and now is not None and was != now:
            found.append(f"another {title}: {was}, then {now}")
    if old.get("name") != new.get("name"):
        found.append(f"results of another kind: {old.get('name')}, then {new.get('name')}")
    return found


def read(path: Path) -> dict[str, Any]:
    """Read a result. Raises ValueError with a message for the user."""
    try:
        found = json.loads(path.read_text())
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path} is no result of a measurement")
    return found


def asked(arguments: list[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, metavar="OLD")
    parser.add_argument("new", type=Path, metavar="NEW")
    parser.add_argument("--threshold", type=float, default=0.05, help="share by which a row may be slower (0.05)")
    parser.add_argument("--noise", type=float, default=0.1, help="of what was measured once (0.1)")
    parser.add_argument("--all", action="store_true", help="also show rows that are within noise")
    parser.add_argument("--peers", action="store_true", help="also show peers' rows; they are no regressions")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    a = asked(arguments)
    try:
        results = [read(a.old), read(a.new)]
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 2
    changes, left_out = compared(*(measured(result) for result in results), a.noise)
    if not changes:
        print(f"{a.old} and {a.new} have no row of the same name and the same work", file=sys.stderr)
        return 2
    ours = [change for change in changes if not is_peer(change.name)]
    peers = [change for change in changes if is_peer(change.name)]
    shown = [c for c in (changes if a.peers else ours) if a.all or c.verdict != "within noise"]
    worse = [change for change in ours if change.is_regression(a.threshold)]
    print("\n".join(table(shown, a.threshold) if shown else ["every row is within noise"]))
    counted = {kind: sum(c.verdict == kind for c in ours) for kind in ("faster", "slower", "within noise")}
    print(f"{len(ours)} rows: " + ", ".join(f"{n} {kind}" for kind, n in counted.items()), end="; ")
    print(f"{len(worse)} regressions (slower by more than noise and {a.threshold:.0%})")
    if peers:
        middle = statistics.median(change.ratio for change in peers)
        print(f"peers' rows, {len(peers)}: ×{middle:.3f} in the middle, which is the machine's doing")
    for line in differences(*results):
        print(f"note: {line}")
    reasons: dict[str, list[str]] = {}
    for name, why in left_out.items():
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        print(f"not compared, {why}: {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else ""))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
